import { CLI } from '#shared/base/invocation.ts';
import { jsonOf, type Message, type Reply, type Send } from '#shared/client/send.ts';
import { linksTo } from '#shared/http/link.ts';
import { Failure, type Shell } from '../arguments/command.ts';
import { currentLogin } from '../oauth/current-login.ts';
import { parseSafeUrl } from '../oauth/http.ts';
import { demandDpop, loginAccess } from '../oauth/login-access.ts';
import { type GetAccess, sendProtected } from '../oauth/protected-request.ts';

/** The relation type of a push resource (RFC 8030 section 4). */
const PUSH = 'urn:ietf:params:push';
/** The options of a subscription (RFC 8292 section 4.1). */
const OPTIONS = 'application/webpush-options+json';

export interface Subscription {
  /** Where its messages are waited for. */
  readonly url: string;
  /** The push resource, to which application servers send. */
  readonly endpoint: string;
}

/**
 * Makes a subscription with the token of the login (RFC 8030 section 4). `service`: a URL that ends in a slash. `key`:
 * of the only application server that may send. Throws `Failure`.
 */
export async function subscribe(
  send: Send,
  service: string,
  key: string | undefined,
  shell: Shell,
): Promise<Subscription> {
  const url = new URL('subscribe', service).href;
  const options = key !== undefined && {
    fields: { 'content-type': OPTIONS },
    body: JSON.stringify({ vapid: key }),
  };
  const message: Message = { method: 'POST', url, ...options };
  const answer = await sendProtected(send, message, accessTo(send, service, shell));
  const { status, fields } = answer;
  if (status !== 201) {
    // RFC 6750 section 3: another token would do. What else is forbidden stays so.
    const remedy = fields['www-authenticate'] === undefined ? [] : [logInFor(service)];
    throw new Failure(`${url} answers ${status}${detailOf(answer)}`, ...remedy);
  }
  const [link] = linksTo(['link', fields['link'] ?? ''], PUSH);
  return { url: atOrigin(url, fields['location']), endpoint: atOrigin(url, link) };
}

/** Deletes a subscription, or a message, which acknowledges it. Rejects unless it is gone. */
export async function remove(send: Send, url: string): Promise<void> {
  const { status } = await send({ method: 'DELETE', url });
  const isGone = (status >= 200 && status < 300) || status === 404 || status === 410;
  if (!isGone) throw new Failure(`${new URL(url).origin} answers ${status}`);
}

function accessTo(send: Send, service: string, shell: Shell): GetAccess {
  return async (metadata) => {
    const { resource, authorizationServers } = metadata;
    demandDpop(metadata, 'no subscription is made there');
    const login = await currentLogin(send, shell);
    const isFor = login?.resource === resource && authorizationServers.includes(login.issuer);
    if (!isFor) throw new Failure(`${service} asks for a login of its own.`, logInFor(service));
    return loginAccess(send, shell)(metadata);
  };
}

const logInFor = (service: string) => `Run ${CLI} login --scope push --resource ${service}`;

/** Returns the detail of a problem document (RFC 9457), behind a colon. */
function detailOf(answer: Reply): string {
  const { detail } = Object(jsonOf(answer)) as { readonly detail?: unknown };
  return typeof detail === 'string' ? `: ${detail}` : '';
}

/** The URL of a resource that the push service names, which is at its own origin. */
function atOrigin(from: string, reference: string | undefined): string {
  const url =
    reference === undefined ? undefined : parseSafeUrl(URL.parse(reference, from)?.href ?? '');
  const { origin } = new URL(from);
  if (url?.origin === origin) return url.href;
  throw new Failure(`${from} names no subscription at ${origin} (RFC 8030 section 4)`);
}
