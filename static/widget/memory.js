// Browser storage of one widget: the visitor's token, the panel's state, and the last message read.
export class Memory {
  constructor(key) {
    this.place = `makegood:${key}`;
    this.kept = {};
    try {
      this.kept = JSON.parse(localStorage.getItem(this.place)) ?? {};
    } catch {
      // Storage may be blocked or contain something else; then nothing is remembered.
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
      // Storage may be blocked.
    }
  }
}
