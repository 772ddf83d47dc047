import { type Html, html } from '#shared/pages/html.ts';
import type { AccountStart } from '../frame/account-view.ts';
import type { View } from '../frame/view.ts';
import { textsOf } from '../texts/index.ts';

/** The longest list of origins in the policy of the page: proxies limit the length of an answer's fields. */
const MOST_CHARACTERS = 2048;

/** The applications that a person may open, as links. Undefined: there are none. */
export function startSection(
  { language }: View,
  starts: readonly AccountStart[],
): Html | undefined {
  if (starts.length === 0) return undefined;
  const shown = new Set(logoOrigins(starts));
  const entry = ({ name, url, logo }: AccountStart) =>
    html`<li>
      <a href="${url}"
        ><span class="tile" aria-hidden="true"
          >${
            logo !== undefined && shown.has(originOf(logo))
              ? html`<img src="${logo}" alt="" referrerpolicy="no-referrer" />`
              : initialOf(name)
          }</span
        ><span class="start"
          ><span>${name}</span> <span class="small muted">${new URL(url).host}</span></span
        ></a
      >
    </li> `;
  return html`<section aria-labelledby="starts">
    <h2 id="starts">${textsOf(language).account.starts}</h2>
    <ul class="starts">
      ${starts.map(entry)}
    </ul>
  </section>`;
}

/** Returns the origins of the logos that the page shows, each once. */
export function logoOrigins(starts: readonly AccountStart[]): readonly string[] {
  const all = [
    ...new Set(starts.flatMap(({ logo }) => (logo === undefined ? [] : originOf(logo)))),
  ];
  let length = 0;
  return all.filter((origin) => (length += origin.length + 1) <= MOST_CHARACTERS);
}

const originOf = (logo: string) => `${new URL(logo).origin}/`;

function initialOf(name: string): string {
  const [first] = new Intl.Segmenter().segment(name.trim());
  return first?.segment.toLocaleUpperCase() ?? '';
}
