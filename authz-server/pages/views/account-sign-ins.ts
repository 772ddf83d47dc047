import { type Html, html } from '#shared/pages/html.ts';
import type { AccountSignIn } from '../frame/account-view.ts';
import type { View } from '../frame/view.ts';
import { textsOf } from '../texts/index.ts';
import { endButton } from './end-button.ts';
import { facts } from './facts.ts';
import { programName } from './program.ts';
import { moment } from './times.ts';

/** Returns the browser of a sign-in by name. */
export function browserOf(
  { language }: View,
  { agent = '' }: Pick<AccountSignIn, 'agent'>,
): string {
  const all = textsOf(language);
  return programName(agent, all) || all.account.someBrowser;
}

/**
 * The browser of a sign-in with its start and its address, since a person may be signed in with two browsers of the same
 * name.
 */
export function browserSince(
  view: View,
  signIn: Pick<AccountSignIn, 'agent' | 'since' | 'address'>,
): Html {
  return placed(view, browserOf(view, signIn), textsOf(view.language).account.signedIn, signIn);
}

/** A name of a browser or device, and when and from which address it got what it has. `what`: the name of the moment. */
export function placed(
  view: View,
  name: string,
  what: string,
  { since, address }: Pick<AccountSignIn, 'since' | 'address'>,
): Html {
  return html`${name}<br /><span class="muted small"
      >${what}: ${moment(since, view)}${address !== undefined && html`, ${address}`}</span
    >`;
}

/** A browser in which the person is signed in. */
export function signInEntry(view: View, signIn: AccountSignIn): Html {
  const { id, since, lastSeen, address, current, by } = signIn;
  const texts = textsOf(view.language).account;
  const program = browserOf(view, signIn);
  return html`<li>
    <div class="entry">
      <h3>${program}${current && html` <span class="tag">${texts.current}</span>`}</h3>
      ${facts([
        [texts.signedIn, moment(since, view)],
        [texts.by, texts.means[by]],
        [texts.lastSeen, lastSeen === undefined || current ? undefined : moment(lastSeen, view)],
        [texts.address, address],
      ])}
    </div>
    ${endButton(view, { end: 'sign-in', id }, texts.endSignIn(program))}
  </li> `;
}
