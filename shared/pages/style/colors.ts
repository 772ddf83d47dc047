import { BACKGROUND, brandColors } from '#shared/base/brand-colors.ts';
import { css } from './css.ts';

/** Returns every color by its purpose: in light, in dark, and with more contrast for people who ask for it. */
export function colors(color: string): string {
  const { fill, onFill, shade, light, dark } = brandColors(color);
  return css`
    :root {
      color-scheme: light dark;
      --fill: ${fill};
      --on-fill: ${onFill};
      --shade: ${shade};
      --mark: ${light};
      --canvas: ${BACKGROUND.light};
      --surface: #ffffff;
      --soft: #f4f5f7;
      --text: #191c22;
      --muted: #555c69;
      --line: #d9dce2;
      --edge: #7f8592;
      --bad: #b3201a;
      --bad-soft: #fdf0ef;
      --good: #17693a;
      --warn: #7a4a00;
      --warn-soft: #fff6e3;
      --shadow: 0 1px 2px rgb(18 24 40 / 5%), 0 12px 32px rgb(18 24 40 / 7%);
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --mark: ${dark};
        --canvas: #101216;
        --surface: #181b20;
        --soft: ${BACKGROUND.dark};
        --text: #eceef2;
        --muted: #a4abb8;
        --line: #31363f;
        --edge: #7c8492;
        --bad: #ff9d94;
        --bad-soft: #321c1c;
        --good: #74d99f;
        --warn: #f3c56b;
        --warn-soft: #2e2617;
        --shadow: none;
      }
    }
    @media (prefers-contrast: more) {
      :root {
        --muted: var(--text);
        --line: currentcolor;
        --edge: currentcolor;
        --shadow: none;
      }
    }
  `;
}
