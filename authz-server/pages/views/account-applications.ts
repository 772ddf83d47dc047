import { type Html, html } from '#shared/pages/html.ts';
import type { AccountAccess, AccountApplication } from '../frame/account-view.ts';
import type { View } from '../frame/view.ts';
import { textsOf } from '../texts/index.ts';
import { placed } from './account-sign-ins.ts';
import { endButton } from './end-button.ts';
import { facts } from './facts.ts';
import { programName } from './program.ts';
import { moment } from './times.ts';

/** An application, and within it each browser and device in which it has access. */
export function applicationEntry(view: View, application: AccountApplication): Html {
  const { id, name, items, accesses, hidden } = application;
  const texts = textsOf(view.language).account;
  return html`<li>
    <div class="entry">
      <h3>${name}</h3>
      ${facts([[texts.may, items.length === 0 ? texts.nothing : itemList(items)]])}
    </div>
    ${endButton(view, { end: 'application', id }, texts.endAccess(name))}
    ${
      accesses.length > 0 &&
      html`<ul class="within" aria-label="${texts.accessesOf(name)}">
        ${accesses.map((access) => accessEntry(view, name, access))}
        ${hidden !== undefined && html`<li>${texts.hiddenAccesses(hidden)}</li>`}
      </ul>`
    }
  </li> `;
}

/** Returns the browser or the device of an access by name. */
export function placeOf(
  { language }: View,
  { isDevice, agent = '' }: Pick<AccountAccess, 'isDevice' | 'agent'>,
): string {
  const all = textsOf(language);
  return programName(agent, all) || (isDevice ? all.account.someDevice : all.account.someBrowser);
}

/** The browser or the device of an access, with its start and its address. */
export const placeSince = (
  view: View,
  access: Pick<AccountAccess, 'isDevice' | 'agent' | 'since' | 'address'>,
): Html => placed(view, placeOf(view, access), textsOf(view.language).account.allowed, access);

function accessEntry(view: View, application: string, access: AccountAccess): Html {
  const { id, isDevice, since, lastIssue, address } = access;
  const texts = textsOf(view.language).account;
  const where = placeOf(view, access);
  return html`<li>
    <div class="entry">
      <p><strong>${where}</strong>${isDevice && html` <span class="tag">${texts.device}</span>`}</p>
      ${facts([
        [texts.allowed, moment(since, view)],
        [texts.lastIssue, lastIssue === undefined ? texts.never : moment(lastIssue, view)],
        [texts.address, address],
      ])}
    </div>
    ${endButton(view, { end: 'access', id }, texts.endAccessAt(application, where))}
  </li> `;
}

function itemList(items: readonly string[]): Html {
  return html`<ul>
    ${items.map((item) => html`<li>${item}</li>`)}
  </ul>`;
}
