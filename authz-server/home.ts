import { isProduction } from '#shared/config/production.ts';
import type { Config } from '#shared/config/schema.ts';
import type { Answer } from '#shared/server/answer.ts';
import { escapeHtml, page, shellWord } from '#shared/server/page.ts';
import { spaceScopes } from './resources.ts';

const DEMO = `The first start has made a client to try this with: its lines are in
<code>first-start.txt</code> in the data folder. `;

/** The page at `/`: what is here and what to try, with the configured addresses. */
export function homePage(config: Config): Answer {
  const { issuer, resource, spaces } = config;
  const token = shellWord(`${issuer}/token`);
  const link = (url: string) => `<a href="${escapeHtml(url)}">${escapeHtml(url)}</a>`;
  const resources = spaces.map(
    (space) =>
      `<li>${link(space.url)}: ${escapeHtml([...spaceScopes(space)].join(', ') || 'no scopes')}</li>`,
  );
  return page(
    'Countersign authorization server',
    `<p>This server issues access tokens to the clients it knows. The tokens open the
<a href="${escapeHtml(resource)}">resource server</a>. A token that is revoked is refused by the next
request.</p>
<h2>Get a token</h2>
<pre>${escapeHtml(`curl -u CLIENT_ID:CLIENT_SECRET -d grant_type=client_credentials ${token}`)}</pre>
<p>${isProduction(config) ? '' : DEMO}<code>npm run -s cli -- client add --help</code> says how to make a
client.</p>
<h2>End a token</h2>
<pre>${escapeHtml(`curl -u CLIENT_ID:CLIENT_SECRET -d token=TOKEN ${shellWord(`${issuer}/token/revocation`)}`)}</pre>
<h2>Resources and their scopes</h2>
<ul>
${resources.join('\n')}
</ul>
<h2>For programs</h2>
<ul>
<li>${link(`${issuer}/.well-known/oauth-authorization-server`)}: what this server can do (RFC 8414)</li>
<li>${link(`${issuer}/jwks`)}: the keys that its tokens are signed with</li>
<li>${link(`${issuer}/health/ready`)}: whether it can work now</li>
</ul>`,
  );
}
