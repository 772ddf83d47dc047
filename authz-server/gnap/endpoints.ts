import { type Answer, UNSTORED } from '#shared/http/answer.ts';
import { lines } from '#shared/http/fields.ts';
import { clientAddress, trustedProxies } from '#shared/http/forwarded.ts';
import type { Target } from '#shared/http/target.ts';
import type { Endpoint } from '#shared/server/endpoints/endpoint.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { note } from '#shared/server/message/request-log.ts';
import { ENDPOINTS } from '../base/endpoints.ts';
import { continueGrant, endGrantOf, modifyGrant } from './continuation.ts';
import { GnapError } from './gnap-error.ts';
import { requestGrant } from './grant.ts';
import { createIntrospection } from './introspection.ts';
import { revokeToken, rotateToken } from './management.ts';
import { receive, type Received } from './receive.ts';
import type { Origin } from './records.ts';
import type { GnapServer } from './server.ts';
import type { Config } from '#shared/config/schema.ts';
import { FINISH_METHODS, INTERACTION_START_MODES } from './interaction.ts';
import { SUBJECT_FORMATS } from './subject.ts';

/**
 * Handles a request to an endpoint. Resolves to the JSON of the answer, or to undefined for an answer without content.
 */
type Work = (received: Received, target: Target) => Promise<object | void>;

type Works = Readonly<Record<string, Work>>;

const LONGEST_AGENT = 512;

/** Returns the GNAP endpoints for programs, by path. */
export function gnapEndpoints(server: GnapServer): ReadonlyMap<string, Endpoint> {
  const { config } = server;
  const proxies = trustedProxies(config.trustedProxies);
  const introspect = createIntrospection(server);
  // Without mtls no certificate is trusted.
  const believed = trustedProxies(config.gnap?.mtls ? config.trustedProxies : []);
  const answering = (works: Works) =>
    answerBy(works, (request) => receive(request, originOf(request), believed));

  function originOf({ socket, rawHeaders, headers }: AnyRequest): Origin {
    const forwarded = lines(rawHeaders, 'x-forwarded-for');
    const agent = headers['user-agent']?.slice(0, LONGEST_AGENT);
    return {
      address: clientAddress(socket.remoteAddress ?? '', forwarded, proxies),
      ...(agent !== undefined && { agent }),
    };
  }

  const jtiOf = ({ segments }: Target) => segments.at(-1) ?? '';
  const CONTINUATION: Works = {
    POST: (received) => continueGrant(server, received),
    PATCH: (received) => modifyGrant(server, received),
    DELETE: (received) => endGrantOf(server, received),
  };
  const MANAGEMENT: Works = {
    POST: (received, target) => rotateToken(server, received, jtiOf(target)),
    DELETE: (received, target) => revokeToken(server, received, jtiOf(target)),
  };

  return new Map<string, Endpoint>([
    [
      '/gnap',
      {
        ...ENDPOINTS['/gnap'],
        options: () => json(discovery(config)),
        answer: answering({
          POST: (received) => requestGrant(server, received),
        }),
      },
    ],
    ['/gnap/continue', { ...ENDPOINTS['/gnap/continue'], answer: answering(CONTINUATION) }],
    ['/gnap/token/:uid', { ...ENDPOINTS['/gnap/token/:uid'], answer: answering(MANAGEMENT) }],
    [
      '/gnap/introspect',
      { ...ENDPOINTS['/gnap/introspect'], answer: answering({ POST: introspect }) },
    ],
    [
      '/.well-known/gnap-as-rs',
      {
        ...ENDPOINTS['/.well-known/gnap-as-rs'],
        answer: () => json(resourceServerDiscovery(config)),
      },
    ],
  ]);
}

/** Answers with the handler of each method. A refusal is JSON, too (RFC 9635 section 3.6). */
function answerBy(works: Works, received: (request: AnyRequest) => Promise<Received>) {
  return async (request: AnyRequest, target: Target): Promise<Answer> => {
    const work = works[request.method ?? ''];
    if (work === undefined) throw new Error(`no work for ${request.method}`);
    try {
      const answer = await work(await received(request), target);
      if (answer && 'access_token' in answer) note(request, { grant: 'gnap', format: 'GNAP' });
      return answer === undefined ? { status: 204, fields: UNSTORED } : json(answer);
    } catch (error) {
      if (!(error instanceof GnapError)) throw error;
      const { code, message: description, more } = error;
      note(request, { reason: `${code}: ${description}` });
      return json({ error: { code, description }, ...more }, 400);
    }
  };
}

const json = (body: object, status = 200): Answer => ({
  status,
  fields: { ...UNSTORED, 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});

type Settings = Pick<Config, 'issuer' | 'gnap'>;

const keyProofs = ({ gnap }: Settings) => ['httpsig', ...(gnap?.mtls ? ['mtls'] : [])];

/** Describes this server for clients (RFC 9635 section 9). */
const discovery = (config: Settings) => ({
  grant_request_endpoint: `${config.issuer}/gnap`,
  interaction_start_modes_supported: INTERACTION_START_MODES,
  interaction_finish_methods_supported: FINISH_METHODS,
  key_proofs_supported: keyProofs(config),
  ...SUBJECT_FORMATS,
  key_rotation_supported: true,
});

/** Describes this server for resource servers (RFC 9767 section 3.1). */
const resourceServerDiscovery = (config: Settings) => ({
  grant_request_endpoint: `${config.issuer}/gnap`,
  introspection_endpoint: `${config.issuer}/gnap/introspect`,
  token_formats_supported: ['jwt-signed'],
  key_proofs_supported: keyProofs(config),
});
