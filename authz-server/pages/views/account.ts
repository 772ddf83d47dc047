import type { Answer } from '#shared/http/answer.ts';
import { type Html, html } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import type { AccountGroup, AccountProps } from '../frame/account-view.ts';
import type { View } from '../frame/view.ts';
import { textsOf } from '../texts/index.ts';
import { applicationEntry } from './account-applications.ts';
import { keySection } from './account-keys.ts';
import { signInEntry } from './account-sign-ins.ts';
import { activitySection } from './activity.ts';
import { logoOrigins, startSection } from './account-starts.ts';
import { wayList } from './account-ways.ts';
import { facts } from './facts.ts';

/** All that is open in the name of a person, each with the means to end it: few of each group, or a page of one. */
export function accountPage(view: View, props: AccountProps): Answer {
  const { lists, name, profile, ended, untold = [], starts } = props;
  const all = textsOf(view.language);
  const texts = all.account;
  return document(view, {
    title: all.yourAccount,
    part: 'starts',
    pictures: [
      ...(profile?.picture === undefined ? [] : [profile.picture]),
      ...logoOrigins(starts),
    ],
    content: html`<div class="wide">
      <div class="intro">
        <h1>${all.yourAccount}</h1>
        <p class="muted">${texts.lead(name)}</p>
        ${props.admin !== undefined && html`<p><a href="${props.admin}">${all.admin.title}</a></p>`}
        ${ended !== undefined && html`<p class="note good" role="status">${texts.ended[ended]}</p>`}
        ${
          untold.length > 0 &&
          html`<p class="muted">${all.endEverything.done.untold(untold.join(', '))}</p>`
        }
      </div>
      ${lists.shown === undefined ? overview(view, props) : group(view, props, lists.shown.group)}
    </div>`,
  });
}

function overview(view: View, props: AccountProps): Html {
  const { profile, addresses, ways, keys, keyOrigins } = props;
  const all = textsOf(view.language);
  const texts = all.account;
  return html`${startSection(view, props.starts)}
    ${
      (profile !== undefined || addresses !== undefined) &&
      html`<section aria-labelledby="about">
        <h2 id="about">${texts.about.title}</h2>
        ${aboutYou(view, props)}
      </section>`
    }
    <section aria-labelledby="ways">
      <h2 id="ways">${texts.ways}</h2>
      ${wayList(view, ways)}
    </section>
    ${group(view, props, 'sign-ins')} ${group(view, props, 'applications')}
    <section aria-labelledby="devices">
      <h2 id="devices">${texts.devices}</h2>
      <p>${texts.devicesText} <a href="/device">${texts.connect}</a></p>
    </section>
    ${(keys.length > 0 || keyOrigins.length > 0) && keySection(view, props)}
    ${activitySection(view, props.activity)}
    <section aria-labelledby="data">
      <h2 id="data">${all.data.title}</h2>
      <p>${all.data.section} <a href="${props.data}">${all.data.link}</a></p>
    </section>
    <section class="panel" aria-labelledby="everything">
      <h2 id="everything">${texts.everything}</h2>
      <p>${texts.everythingText}</p>
      <p><a class="button danger" href="/account/end">${texts.everything}</a></p>
    </section>`;
}

function group(view: View, { lists }: AccountProps, name: AccountGroup): Html {
  const texts = textsOf(view.language).account;
  const entries =
    name === 'sign-ins'
      ? lists.signIns.map((signIn) => signInEntry(view, signIn))
      : lists.applications.map((application) => applicationEntry(view, application));
  const none = lists.shown === undefined ? texts.none[name] : texts.noneHere;
  return html`<section aria-labelledby="${name}">
    <h2 id="${name}">${texts.groups[name]}</h2>
    ${
      entries.length === 0
        ? html`<p class="empty">${none}</p>`
        : html`<ul class="list">
            ${entries}
          </ul>`
    }
    ${
      lists.more.includes(name) &&
      html`<p><a href="/account?show=${name}">${texts.showAll[name]}</a></p>`
    }
    ${lists.shown !== undefined && pager(view, lists.shown)}
  </section>`;
}

interface Shown {
  readonly group: AccountGroup;
  readonly page: number;
  readonly pages: number;
}

function pager({ language }: View, { group: name, page, pages }: Shown): Html {
  const texts = textsOf(language).account;
  const to = (other: number, text: string) =>
    other >= 1 &&
    other <= pages &&
    html`<a class="button slim" href="/account?show=${name}&page=${String(other)}">${text}</a> `;
  return html`<nav class="stack" aria-label="${texts.pages}">
    ${pages > 1 && html`<p class="muted">${texts.pageOf(page, pages)}</p>`}
    <p class="buttons">
      ${to(page - 1, texts.pageBefore)}${to(page + 1, texts.pageAfter)}
      <a class="button slim" href="/account">${texts.overview}</a>
    </p>
  </nav>`;
}

/** The profile of a person, as applications may read it. */
function aboutYou(
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
