import type { Answer } from '#shared/http/answer.ts';
import type { Profile } from '#shared/stores/people/people.ts';
import { html } from '#shared/pages/html.ts';
import type { Html } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import { textsOf } from '../texts/index.ts';
import type {
  AccountAccess,
  AccountApplication,
  AccountKey,
  AccountProps,
  View,
} from '../frame/view.ts';
import { facts } from './facts.ts';
import { form } from './form.ts';
import { programName } from './program.ts';
import { moment } from './times.ts';

/** All that is open in the name of a person, each with the means to end it. */
export function accountPage(view: View, props: AccountProps): Answer {
  const { action, name, signIns, applications, keys, keyOrigins, ended } = props;
  const { page, pages, profile } = props;
  const all = textsOf(view.language);
  const texts = all.account;
  // The entries may be on another page of the list.
  const nothing = (none: string) =>
    html`<p class="empty">${pages === 1 ? none : texts.noneHere}</p>`;
  return document(view, {
    title: all.yourAccount,
    content: html`<div class="wide">
      <div class="intro">
        <h1>${all.yourAccount}</h1>
        <p class="muted">${texts.lead(name)}</p>
        ${profile && aboutYou(view, profile)}
        ${ended !== undefined && html`<p class="note good" role="status">${texts.ended[ended]}</p>`}
      </div>
      <section aria-labelledby="ways">
        <h2 id="ways">${texts.ways}</h2>
        <ul class="points">
          <li><a href="/account/password">${all.changePassword.title}</a></li>
          <li><a href="/account/passkeys">${texts.toPasskeys}</a>. ${texts.waysText}</li>
        </ul>
      </section>
      <section aria-labelledby="sign-ins">
        <h2 id="sign-ins">${texts.signIns}</h2>
        ${
          signIns.length === 0
            ? nothing(texts.noneHere)
            : html`<ul class="list">
                ${signIns.map((signIn) => signInEntry(view, action, signIn))}
              </ul>`
        }
      </section>
      <section aria-labelledby="applications">
        <h2 id="applications">${texts.applications}</h2>
        ${
          applications.length === 0
            ? nothing(texts.noApplications)
            : html`<ul class="list">
                ${applications.map((application) => applicationEntries(view, action, application))}
              </ul>`
        }
        <p class="small"><a href="/device">${texts.connect}</a></p>
      </section>
      ${pages > 1 && pager(view, page, pages)}
      ${(keys.length > 0 || keyOrigins.length > 0) && keySection(view, props)}
      <section class="panel" aria-labelledby="everything">
        <h2 id="everything">${texts.everything}</h2>
        <p>${texts.everythingText}</p>
        <p><a class="button danger" href="/account/end">${texts.everything}</a></p>
      </section>
    </div>`,
  });
}

function pager({ language }: View, page: number, pages: number): Html {
  const texts = textsOf(language).account;
  const to = (other: number, text: string) =>
    other >= 1 &&
    other <= pages &&
    html`<a class="button slim" href="/account?page=${String(other)}">${text}</a> `;
  return html`<nav aria-label="${texts.pages}">
    <p class="muted">${texts.pageOf(page, pages)}</p>
    <p class="buttons">${to(page - 1, texts.pageBefore)}${to(page + 1, texts.pageAfter)}</p>
  </nav>`;
}

function signInEntry(view: View, action: string, signIn: AccountProps['signIns'][number]): Html {
  const { id, since, address, agent = '', current } = signIn;
  const all = textsOf(view.language);
  const texts = all.account;
  const program = programName(agent, all) || texts.someBrowser;
  return html`<li>
    <div class="entry">
      <h3>${program}${current && html` <span class="tag">${texts.current}</span>`}</h3>
      ${facts([
        [texts.signedIn, moment(since, view)],
        [texts.address, address],
      ])}
    </div>
    ${endButton(view, action, { end: 'sign-in', id }, texts.endSignIn(program))}
  </li> `;
}

/** The application, and below it each browser and device in which it has access. */
function applicationEntries(view: View, action: string, application: AccountApplication): Html {
  const { id, name, items, accesses } = application;
  const texts = textsOf(view.language).account;
  return html`<li>
      <div class="entry">
        <h3>${name}</h3>
        ${facts([[texts.may, items.length === 0 ? texts.nothing : itemList(items)]])}
      </div>
      ${endButton(view, action, { end: 'application', client: id }, texts.endAccess(name))}
    </li>
    ${accesses.map((access) => accessEntry(view, action, name, access))}`;
}

function accessEntry(view: View, action: string, application: string, access: AccountAccess): Html {
  const { id, isDevice, since, lastIssue, address, agent = '' } = access;
  const all = textsOf(view.language);
  const texts = all.account;
  const where = programName(agent, all) || (isDevice ? texts.someDevice : texts.someBrowser);
  return html`<li>
    <div class="entry">
      <p><strong>${where}</strong>${isDevice && html` <span class="tag">${texts.device}</span>`}</p>
      ${facts([
        [texts.allowed, moment(since, view)],
        [texts.lastIssue, lastIssue === undefined ? texts.never : moment(lastIssue, view)],
        [texts.address, address],
      ])}
    </div>
    ${endButton(view, action, { end: 'access', id }, texts.endAccessAt(application, where))}
  </li> `;
}

/** All keys of the person, on every page: there are few. */
function keySection(view: View, { action, link, keys, keyOrigins }: AccountProps): Html {
  const texts = textsOf(view.language).account;
  return html`<section aria-labelledby="keys">
    <h2 id="keys">${texts.keys}</h2>
    ${
      keys.length === 0
        ? html`<p class="empty">${texts.noKeys}</p>`
        : html`<ul class="list">
              ${keys.map((key) => keyEntry(view, action, key))}
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

function keyEntry(view: View, action: string, key: AccountKey): Html {
  const { id, name, scheme, origin, since, lastUse } = key;
  const texts = textsOf(view.language).account;
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
    ${endButton(view, action, { end: 'key', id }, texts.endKey(name))}
  </li> `;
}

function aboutYou({ language }: View, { display_name, emails = [], groups = [] }: Profile): Html {
  const texts = textsOf(language).account.about;
  const email = ({ address, verified }: (typeof emails)[number]) =>
    verified ? address : `${address} (${texts.unverified})`;
  return facts([
    [texts.name, display_name],
    ...emails.map((one) => [texts.email, email(one)] as const),
    [texts.groups, groups.length > 0 ? groups.join(', ') : undefined],
  ]);
}

function itemList(items: readonly string[]): Html {
  return html`<ul>
    ${items.map((item) => html`<li>${item}</li>`)}
  </ul>`;
}

/** `what` is for those who do not see beside what the button stands. */
function endButton(
  view: View,
  action: string,
  hidden: Readonly<Record<string, string>>,
  what: string,
): Html {
  const { end } = textsOf(view.language).account;
  return form(
    view,
    action,
    hidden,
    html`<button class="button slim">${end}<span class="hidden">${what}</span></button>`,
  );
}
