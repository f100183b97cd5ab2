// Forms that are higher than the window and have no button in it that sends them.
() => {
  const isSeen = (button) => {
    const { left, top, width, height } = button.getBoundingClientRect();
    const hit = document.elementFromPoint(left + width / 2, top + height / 2);
    return button === hit || button.contains(hit);
  };
  return [...document.querySelectorAll("main form[method=post]")]
    .filter((form) => form.checkVisibility() && form.getBoundingClientRect().height > innerHeight)
    .filter((form) => form.getBoundingClientRect().top < innerHeight / 2)
    .filter((form) => ![...form.elements].some((button) => button.type === "submit" && !button.dataset.test && isSeen(button)))
    .map((form) => `${form.id}.${form.className}`);
};
