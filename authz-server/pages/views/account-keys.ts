import { type Html, html } from '#shared/pages/html.ts';
import type { AccountKey, AccountProps } from '../frame/account-view.ts';
import type { View } from '../frame/view.ts';
import { textsOf } from '../texts/index.ts';
import { endButton } from './end-button.ts';
import { facts } from './facts.ts';
import { form } from './form.ts';
import { moment } from './times.ts';

/** All keys of a person: there are few. */
export function keySection(view: View, { link, keys, keyOrigins }: AccountProps): Html {
  const texts = textsOf(view.language).account;
  return html`<section aria-labelledby="keys">
    <h2 id="keys">${texts.keys}</h2>
    ${
      keys.length === 0
        ? html`<p class="empty">${texts.noKeys}</p>`
        : html`<ul class="list">
              ${keys.map((key) => keyEntry(view, key))}
            </ul>
            <p class="small muted">${texts.keysStay}</p>`
    }
    ${keyOrigins.map((origin) =>
      form(
        view,
        link,
        { origin },
        html`<button class="button slim">${texts.addKey(origin)}</button>`,
      ),
    )}
  </section>`;
}

function keyEntry(view: View, key: AccountKey): Html {
  const { id, name, scheme, origin, since, lastUse } = key;
  const { account: texts, passkeys } = textsOf(view.language);
  return html`<li>
    <div class="entry">
      <h3>${name}</h3>
      ${facts([
        [texts.scheme, scheme],
        [texts.goodAt, origin ?? texts.everywhere],
        [texts.made, moment(since, view)],
        [texts.lastIssue, lastUse === undefined ? texts.never : moment(lastUse, view)],
      ])}
    </div>
    ${endButton(view, { end: 'key', id }, texts.removeKey(name), passkeys.remove)}
  </li> `;
}
