// One thing that is asked for again and again. Answers overtake each other: one that is older than the last taken is dropped.
export class Newest {
  asked = 0;
  taken = 0;

  /** The answer to this request; null when it failed, or came too late. */
  async of(request) {
    const number = (this.asked += 1);
    const answer = await request.catch(() => null);
    if (answer === null || number < this.taken) return null;
    this.taken = number;
    return answer;
  }

  /** What was asked for until now is out of date: its answers are dropped. */
  outdate() {
    this.taken = this.asked + 1;
  }
}
