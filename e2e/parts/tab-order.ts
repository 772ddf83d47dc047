import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';

/** A stop of Tab: the number of its control, and whether its focus is visible. */
interface Stop {
  readonly at: number;
  readonly isVisible: boolean;
}

/**
 * Presses Tab through the page and checks that it stops at each control once, in the page's order and
 * visibly, and then leaves the page (WCAG 2.1.1, 2.1.2, 2.4.3, 2.4.7). `name`: the page's name for
 * failures.
 */
export async function walkByTab(page: Page, name: string): Promise<void> {
  const count = await number(page);
  const stops: (Stop | undefined)[] = [];
  for (let step = 0; step <= count; step += 1) {
    await page.keyboard.press('Tab');
    stops.push(await stop(page));
  }
  const expected = Array.from({ length: count }, (_, at) => ({ at, isVisible: true }));
  // After the last control the focus leaves the page, or returns to the first control.
  expect([name, stops.slice(0, count)]).toEqual([name, expected]);
  expect([name, stops[count]?.at ?? 0]).toEqual([name, 0]);
}

/** Numbers the controls that Tab must reach (one radio button per name). Resolves to their count. */
const number = (page: Page): Promise<number> =>
  page.evaluate(`(() => {
    document.activeElement.blur();
    const radios = new Set();
    const controls = [...document.querySelectorAll('a[href], button, input, select, textarea, summary')]
      .filter((one) => !one.disabled && one.type !== 'hidden' && one.checkVisibility())
      .filter((one) => {
        if (one.type !== 'radio') return true;
        if (radios.has(one.name)) return false;
        const chosen = document.querySelector('input[type=radio]:checked[name="' + one.name + '"]');
        if (chosen && chosen !== one) return false;
        return radios.add(one.name);
      });
    controls.forEach((one, at) => { one.dataset.at = String(at); });
    // From the top of the page, whatever has the focus first.
    document.body.tabIndex = -1;
    document.body.focus();
    return controls.length;
  })()`);

/** Examines the focused element. Undefined if no element of the page has the focus. */
const stop = (page: Page): Promise<Stop | undefined> =>
  page.evaluate(`(() => {
    const one = document.activeElement;
    if (one === null || one === document.body) return undefined;
    const { outlineStyle, outlineWidth } = getComputedStyle(one);
    const { width, height } = one.getBoundingClientRect();
    const isVisible = outlineStyle !== 'none' && parseFloat(outlineWidth) > 0 && width > 0 && height > 0;
    return { at: Number(one.dataset.at ?? -1), isVisible };
  })()`);
