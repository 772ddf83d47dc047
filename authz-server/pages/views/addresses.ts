import type { Answer } from '#shared/http/answer.ts';
import { type Html, html } from '#shared/pages/html.ts';
import { document } from '../frame/shell.ts';
import { textsOf } from '../texts/index.ts';
import type { View } from '../frame/view.ts';
import { endCard } from './end-card.ts';
import { addressField } from './address-field.ts';
import { form } from './form.ts';
import { type ShownProblem, shownProblem } from './problem.ts';
import type { Profile } from '#shared/stores/people/people.ts';

export interface AddressesProps {
  /** Forms are posted here: `address`. */
  readonly action: string;
  readonly back: string;
  readonly emails: NonNullable<Profile['emails']>;
  /** A link was sent by mail. */
  readonly sent?: boolean;
  /** The address that was typed before. */
  readonly typed?: string;
  /** The title of the source that owns the addresses, so that they cannot be changed here. */
  readonly owner?: string;
  /** `verified`: the address is already confirmed. */
  readonly problem?:
    | { readonly kind: 'address' | 'verified' }
    | { readonly kind: 'later'; readonly seconds: number };
}

export interface ConfirmAddressProps {
  /** The URL to which the form is posted. */
  readonly action: string;
  readonly address: string;
  /** The address that the new one replaces. */
  readonly former?: string;
}

/** The addresses of a person, each with whether it is confirmed, and a field for another one. */
export function addressesPage(view: View, props: AddressesProps): Answer {
  const { action, back, emails, sent = false, owner } = props;
  const texts = textsOf(view.language).addresses;
  const problem = props.problem && shownProblem(view, props.problem, texts.problems);
  return document(view, {
    ...problem,
    title: problem ? texts.problemTitle : texts.title,
    content: html`<div class="wide">
      <div class="intro">
        <h1>${texts.title}</h1>
        <p class="muted">${texts.lead}</p>
        ${sent && html`<p class="note good" role="status">${texts.sent}</p>`}
      </div>
      <section aria-labelledby="yours">
        <h2 id="yours">${texts.yours}</h2>
        ${
          emails.length === 0
            ? html`<p class="empty">${texts.none}</p>`
            : html`<ul class="list">
                ${emails.map((email) => addressEntry(view, email, owner ? undefined : action))}
              </ul>`
        }
      </section>
      ${owner === undefined ? changeForm(view, props, problem) : html`<p>${texts.owned(owner)}</p>`}
      <p><a class="button" href="${back}">${texts.back}</a></p>
    </div>`,
  });
}

function changeForm(
  view: View,
  { action, emails, typed = '' }: AddressesProps,
  problem: ShownProblem | undefined,
): Html {
  const texts = textsOf(view.language).addresses;
  return html` <section class="panel" aria-labelledby="change">
    <h2 id="change">${emails.length === 0 ? texts.add : texts.change}</h2>
    <p>${emails.length === 0 ? texts.addText : texts.changeText}</p>
    ${problem?.note}
    ${form(
      view,
      action,
      {},
      html`${addressField({ label: texts.label, typed, problem })}
        <button class="button primary">${texts.send}</button>`,
    )}
  </section>`;
}

function addressEntry(
  view: View,
  { address, verified }: AddressesProps['emails'][number],
  action: string | undefined,
): Html {
  const { account, addresses: texts } = textsOf(view.language);
  return html`<li>
    <div class="entry">
      <h3>${address}</h3>
      <p class="small muted">${verified ? account.about.verified : account.about.unverified}</p>
    </div>
    ${
      action !== undefined &&
      !verified &&
      form(
        view,
        action,
        { address },
        html`<button class="button slim">
          ${texts.confirm}<span class="hidden"> ${address}</span>
        </button>`,
      )
    }
  </li> `;
}

/** The page of a link: whoever is signed in says that the address is theirs. */
export function confirmAddressPage(
  view: View,
  { action, address, former }: ConfirmAddressProps,
): Answer {
  const { back, link: texts } = textsOf(view.language).addresses;
  return document(view, {
    title: texts.title,
    content: html`<div class="card">
      <div class="intro">
        <h1>${texts.title}</h1>
        <p>${texts.lead(address, view.person ?? '')}</p>
        ${former !== undefined && html`<p class="muted">${texts.former(former)}</p>`}
      </div>
      ${form(view, action, {}, html`<button class="button primary">${texts.submit}</button>`)}
      <div class="buttons"><a class="button" href="/account">${back}</a></div>
    </div>`,
  });
}

/** Says that the address counts from now on. */
export function addressConfirmedPage(
  view: View,
  { address, account }: { readonly address: string; readonly account: string },
): Answer {
  const { addresses, error } = textsOf(view.language);
  return endCard(view, {
    sign: 'done',
    title: addresses.done.title,
    text: addresses.done.text(address),
    on: { href: account, text: error.back.account, primary: true },
  });
}

/** A link that was used, replaced, is too old, or is not for the person who is signed in. */
export function addressGonePage(view: View): Answer {
  const { addresses, error } = textsOf(view.language);
  return endCard(view, {
    status: 404,
    sign: 'expired',
    ...addresses.gone,
    on: { href: '/account', text: error.back.account },
  });
}
