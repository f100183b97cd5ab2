// What the browser keeps for one widget: the visitor's token, whether the panel is open, how far the visitor has read.
export class Memory {
  constructor(key) {
    this.place = `makegood:${key}`;
    this.kept = {};
    try {
      this.kept = JSON.parse(localStorage.getItem(this.place)) ?? {};
    } catch {
      // Storage may be blocked, or hold what isn't ours: then nothing is remembered.
    }
  }

  get(name) {
    return this.kept[name];
  }

  set(values) {
    Object.assign(this.kept, values);
    try {
      localStorage.setItem(this.place, JSON.stringify(this.kept));
    } catch {
      // As above.
    }
  }
}
