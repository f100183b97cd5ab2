// Repeated requests for one resource. Responses can arrive out of order; older ones are dropped.
export class Newest {
  asked = 0;
  taken = 0;

  /** The response; null if it failed or is outdated. */
  async of(request) {
    const number = (this.asked += 1);
    const answer = await request.catch(() => null);
    if (answer === null || number < this.taken) return null;
    this.taken = number;
    return answer;
  }

  /** Drops the responses of all requests so far. */
  outdate() {
    this.taken = this.asked + 1;
  }
}
