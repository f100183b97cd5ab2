// Elements that are cut off at the edges of the window. What scrolls sideways by itself, such as a table, cuts nothing off.
() => {
  const found = [];
  const wide = document.scrollingElement.scrollWidth - innerWidth;
  if (wide > 0) found.push(`the page is ${wide} px too wide`);
  const scrolls = (element) => {
    for (let one = element.parentElement; one && one !== document.body; one = one.parentElement) {
      const { overflowX } = getComputedStyle(one);
      if (["auto", "scroll"].includes(overflowX) && one.scrollWidth > one.clientWidth) return one;
    }
    return null;
  };
  // A region that scrolls down, and sideways only because something in it is too wide.
  const isPane = (element) => element.matches(".mg-scroll, .mg-main, .mg-split, .mg-col, main");
  const name = (element) => `${element.tagName.toLowerCase()}.${[...element.classList].join(".")} ${element.textContent.trim().slice(0, 40)}`;
  for (const element of document.querySelectorAll("body *")) {
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || element.closest("svg, .visually-hidden, .mg-skip, option, [popover]:not(:popover-open)")) continue;
    const { left, right, width, height } = element.getBoundingClientRect();
    if (width < 2 || height < 2 || (right <= innerWidth + 1 && left >= -1)) continue;
    const by = scrolls(element);
    if (by && !isPane(by)) continue;
    found.push(`${name(element)}: ${Math.round(left)} to ${Math.round(right)} of ${innerWidth}`);
    if (found.length > 4) break;
  }
  return found;
};
