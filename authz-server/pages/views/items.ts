import { html } from '#shared/pages/html.ts';
import type { Html } from '#shared/pages/html.ts';
import { type Texts, textsOf } from '../texts/index.ts';
import type { AskedItem, View } from '../frame/view.ts';

/** Lists the items that a client asks for, by resource. A person can untick each that is not required. */
export function itemChoice({ language }: View, items: readonly AskedItem[]): Html {
  const texts = textsOf(language).items;
  const groups = [...Map.groupBy(items, ({ resource }) => resource)].map(
    ([resource, asked]) =>
      html`<fieldset class="items">
        <legend>
          ${resource === undefined ? texts.aboutYou : placeOf(asked[0]?.place, texts)}
        </legend>
        <ul>
          ${asked.map((item) => html`<li>${choice(item, texts.required)}</li> `)}
        </ul>
      </fieldset> `,
  );
  return html`${groups}`;
}

/** A browser does not send a box that cannot be changed, so a hidden field stands beside it. */
function choice({ id, text, values = [], required }: AskedItem, always: string): Html {
  const details = values.map((value) => html`<small>${value}</small> `);
  if (!required) {
    return html`<label
      ><input type="checkbox" name="item" value="${id}" checked />
      <span>${text}</span> ${details}</label
    >`;
  }
  return html`<input type="hidden" name="item" value="${id}" />
    <label
      ><input type="checkbox" checked disabled /> <span>${text}</span>
      <small>${always}</small> ${details}</label
    >`;
}

const placeOf = (place: string | undefined, texts: Texts['items']) =>
  place === undefined ? texts.here : texts.at(place);
