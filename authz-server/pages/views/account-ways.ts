import { type Html, html } from '#shared/pages/html.ts';
import type { AccountWays } from '../frame/account-view.ts';
import type { View } from '../frame/view.ts';
import { textsOf } from '../texts/index.ts';

/** The ways to sign in, each with its state and the page where it is changed. */
export function wayList(
  { language }: View,
  { hasPassword, passkeys, accountsElsewhere, hasSecondFactor, codesLeft }: AccountWays,
): Html {
  const all = textsOf(language);
  const texts = all.account.wayTexts;
  const left = codesLeft === undefined ? [] : [all.secondFactor.account.left(codesLeft)];
  const way = (name: string, state: string, href: string, change: string) =>
    html`<li>
      <div class="entry">
        <h3>${name}</h3>
        <p class="small muted">${state}</p>
      </div>
      <a class="button slim" href="${href}">${change}</a>
    </li> `;
  return html`<ul class="list">
    ${way(
      texts.password,
      hasPassword ? texts.isSet : texts.notSet,
      '/account/password',
      hasPassword ? texts.changePassword : texts.setPassword,
    )}
    ${way(
      all.passkeys.title,
      texts.passkeyCount(passkeys),
      '/account/passkeys',
      passkeys === 0 ? texts.makePasskey : texts.changePasskeys,
    )}
    ${
      accountsElsewhere !== undefined &&
      way(
        all.sources.title,
        all.sources.count(accountsElsewhere),
        '/account/sources',
        all.sources.change,
      )
    }
    ${
      hasSecondFactor !== undefined &&
      way(
        texts.secondFactor,
        hasSecondFactor ? [texts.isSetUp, ...left].join(' ') : texts.notSetUp,
        '/account/second-factor',
        hasSecondFactor ? texts.changeSecondFactor : texts.setUpSecondFactor,
      )
    }
  </ul>`;
}
