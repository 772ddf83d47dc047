import { metadataUrl } from '#shared/auth/tokens/protected-resource.ts';
import { shellWord } from '#shared/base/shell-word.ts';
import { clientOfCommands } from '#shared/config/client-of-commands.ts';
import type { Config } from '#shared/config/schema.ts';
import type { Answer } from '#shared/http/answer.ts';
import { copyable } from '#shared/pages/copyable.ts';
import { docsLink, TUTORIAL } from '#shared/pages/docs-link.ts';
import { document, type Frame } from '#shared/pages/document.ts';
import { type Html, html } from '#shared/pages/html.ts';
import type { Space } from '../../space/spaces.ts';
import { textsOf } from '../texts/index.ts';

type OfHome = Pick<Config, 'issuer' | 'resource' | 'tls'> & Parameters<typeof clientOfCommands>[0];

/** The page at `/`: the configured URLs, and commands to try. `playground`: the path of its list, if it is enabled. */
export function homePage(
  frame: Frame,
  config: OfHome,
  spaces: readonly Space[],
  playground?: string,
): Answer {
  const { issuer, resource, tls } = config;
  const texts = textsOf(frame.language).home;
  const title = (playground ? texts.titleWithPlayground : texts.title)(frame.brand.name);
  const shown = spaces.filter(isAnnounced);
  const trials = shown.filter(({ serves }) => serves === 'identity');
  return document(frame, {
    title,
    head: { home: '/' },
    content: html`<div class="wide">
      <div class="intro">
        <h1>${title}</h1>
        <p>${texts.lead(link(issuer, texts.authorizationServer))}</p>
        <p>${texts.developers(docsLink(frame.brand, TUTORIAL))}</p>
        ${tls && html`<p>${texts.again(link(tls.resource))}</p>`}
      </div>
      <div class="buttons">
        <a class="button primary" href="${issuer}/account">${texts.account}</a>
        ${playground && html`<a class="button" href="${playground}">${texts.playground}</a>`}
      </div>
      ${shown.filter((space) => !trials.includes(space)).map((space) => section(frame, space, config))}
      ${
        trials.length > 0 &&
        html`<section aria-labelledby="authors">
          <h2 id="authors">${texts.authors}</h2>
          <p>${texts.trials}</p>
          <ul class="points">
            ${trials.map(({ url, schemes }) => html`<li>${link(url)}: ${namesOf(schemes)}</li> `)}
          </ul>
        </section>`
      }
      <section aria-labelledby="operators">
        <h2 id="operators">${texts.operators}</h2>
        <ul class="points">
          <li>${link(`${resource}/health/ready`)}: ${texts.ready}</li>
          <li>${code(`${resource}/verify`)}: ${texts.verify}</li>
        </ul>
      </section>
    </div>`,
  });
}

function section({ language }: Frame, space: Space, config: OfHome): Html {
  const texts = textsOf(language).home;
  const { realm, url, schemes, serves, tree } = space;
  const taken = new Set(schemes.map(({ name }) => name));
  const needed = (method: string) => {
    const scopes = space.scopes(method);
    return scopes.length === 0 ? texts.noScope : code(scopes.join(' '));
  };
  return html`<section>
    <h2>${realm}</h2>
    <p>${serves === 'push' ? code(url) : link(url)}</p>
    <dl class="facts">
      <dt>${texts.schemes}</dt>
      <dd>${namesOf(schemes)}</dd>
      <dt>${texts.reading}</dt>
      <dd>${needed('GET')}</dd>
      <dt>${texts.writing}</dt>
      <dd>${needed('PUT')}</dd>
      ${
        (taken.has('Bearer') || taken.has('DPoP')) &&
        html`<dt>${texts.metadata}</dt>
          <dd>${link(metadataUrl(url))} ${texts.metadataText}</dd>`
      }
    </dl>
    ${serves === 'documents' && tree === 'own' && html`<p>${texts.own}</p>`}
    ${serves === 'documents' && taken.has('Bearer') && copyable(language, html`<pre>${tour(space, config)}</pre>`, texts.commands)}
  </section> `;
}

/** True if pages may name the space: it hides nothing, and has no schemes or a scheme that announces itself. */
const isAnnounced = ({ hide, schemes }: Space) =>
  hide === undefined && (schemes.length === 0 || announced(schemes).length > 0);

const announced = (schemes: Space['schemes']) =>
  schemes.flatMap(({ name, unannounced }) => (unannounced ? [] : name));

const namesOf = (schemes: Space['schemes']) => announced(schemes).join(', ');

const code = (text: string) => html`<code>${text}</code>`;

const link = (url: string, text = url) => html`<a href="${url}">${text}</a>`;

function tour({ url, allScopes }: Space, config: OfHome): string {
  const { issuer } = config;
  const { before, login } = clientOfCommands(config);
  const folder = url.endsWith('/') ? url : `${url}/`;
  const scope = allScopes.length > 0 ? `-d scope=${shellWord(allScopes.join(' '))} ` : '';
  const token = '-H "Authorization: Bearer $TOKEN"';
  return `${before}TOKEN=$(curl -s -u ${login} -d grant_type=client_credentials \\
  -d resource=${shellWord(url)} ${scope}${shellWord(`${issuer}/token`)} \\
  | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
curl ${token} -H 'Content-Type: text/plain' -X PUT -d Hello ${shellWord(`${folder}hello.txt`)}
curl ${token} ${shellWord(`${folder}hello.txt`)}
curl ${token} ${shellWord(folder)}`;
}
