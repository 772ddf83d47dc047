import { type Html, html } from '#shared/pages/html.ts';
import type { AccountProps } from '../frame/account-view.ts';
import type { View } from '../frame/view.ts';
import { textsOf } from '../texts/index.ts';
import { facts } from './facts.ts';

/** The profile of a person, as applications may read it. */
export function aboutYou(
  { language }: View,
  { profile = {}, addresses: change }: Pick<AccountProps, 'profile' | 'addresses'>,
): Html {
  const { display_name, picture, emails = [], groups = [] } = profile;
  const texts = textsOf(language).account.about;
  const address = ({ address: text, verified }: (typeof emails)[number]) =>
    html`<li>
      ${text} <span class="small muted">${verified ? texts.verified : texts.unverified}</span>
    </li>`;
  const addresses =
    emails.length === 0
      ? undefined
      : html`<ul>
          ${emails.map(address)}
        </ul>`;
  return html`<div class="about">
    ${
      picture !== undefined &&
      html`<span class="portrait"
        ><img src="${picture}" alt="" referrerpolicy="no-referrer"
      /></span>`
    }
    ${facts([
      [texts.name, display_name],
      [texts.email, addresses],
      [texts.groups, groups.length > 0 ? groups.join(', ') : undefined],
    ])}
    ${change !== undefined && html`<p><a href="${change}">${texts.changeAddress}</a></p>`}
  </div>`;
}
