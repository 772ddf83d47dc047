import type { Log } from '#shared/base/log.ts';
import type { Random } from '#shared/base/random.ts';
import { PLAYGROUND_BELOW, PLAYGROUND_LIST } from '#shared/config/playground.ts';
import type { Config } from '#shared/config/schema.ts';
import { HttpError } from '#shared/http/answer.ts';
import { authRequest, type Recipient } from '#shared/server/endpoints/auth-request.ts';
import { frontDoor, openTarget } from '#shared/server/front-door/front-door.ts';
import { misdirection } from '#shared/server/front-door/misdirected.ts';
import { SECURITY_FIELDS } from '#shared/server/front-door/security-fields.ts';
import { errorAnswer } from '#shared/server/message/answer.ts';
import type { AnyHandler, AnyRequest } from '#shared/server/message/message.ts';
import { pathOf, requestId } from '#shared/server/message/request-log.ts';
import { framingLines, framingOf, type Lines, onwardLines } from '../forwarding/fields.ts';
import { PassingAnswer } from '../forwarding/passing-answer.ts';
import { sendByNode } from '../forwarding/send-by-node.ts';
import type { Errors } from '../pages/errors.ts';

/** Fields that are written again, or that have no meaning here. */
const OWN: ReadonlySet<string> = new Set(['via', 'x-request-id', 'expect']);

/** Seconds without a byte in either direction after which a connection ends. The longest exchange takes a third. */
const IDLE = 60;

export interface PassingParts {
  readonly config: Pick<Config, 'resource' | 'tls'>;
  readonly recipient: Recipient;
  readonly errors: Errors;
  readonly random: Random;
  readonly log: Log;
}

/**
 * Wraps the order of requests: requests for the playground go to its own process, which the parent of the workers
 * starts with the first of them.
 */
export function passingOn(
  order: AnyHandler,
  { config, recipient, errors, random, log }: PassingParts,
): AnyHandler {
  const pseudonym = `countersign-${random(6).toString('hex')}`;
  const origins = [config.resource, config.tls?.resource];

  /** The lines of a request for the process of the playground, which trusts what these fields say about the client. */
  function linesOf(request: AnyRequest): Lines {
    const { method = '', url: target = '', headers } = request;
    const { peer, confidential } = authRequest(request, { method, target, origin: '' }, recipient);
    const onward = onwardLines(request, pseudonym, ({ vouched }) => vouched);
    return [
      ['Host', authorityOf(request)],
      ...onward.filter(([name]) => !OWN.has(name.toLowerCase())),
      ['X-Forwarded-For', peer.address],
      ['X-Forwarded-Proto', confidential ? 'https' : 'http'],
      ['X-Request-Id', requestId(request)],
      ...(headers.expect === undefined ? [] : [['Expect', headers.expect] as [string, string]]),
      ...framingLines(framingOf(request), method),
      ['Connection', 'close'],
    ];
  }

  const pass: AnyHandler = frontDoor(
    async ({ request, response }) => {
      const lines = linesOf(request);
      const port = await portOfPlayground();
      if (port === undefined) throw away();
      const passing = new PassingAnswer({
        request,
        response,
        fields: {},
        info: recipient.at.info,
        pseudonym,
        back(given) {
          for (const name of Object.keys(SECURITY_FIELDS)) response.removeHeader(name);
          return given.filter(([name]) => name !== 'Via');
        },
      });
      const { url = '' } = request;
      const path = url.startsWith('/') ? url : url.replace(/^[a-z]+:\/\/[^/?#]*/i, '');
      const way = { host: '127.0.0.1', port, agent: false as const };
      await sendByNode({ request, way, path, lines, idle: IDLE }, passing);
    },
    {
      open: openTarget,
      refuseMisdirected: misdirection(origins, recipient.proxies),
      fields: () => ({}),
      log,
      answer: (error, request) => errors.told(request, errorAnswer(error)),
    },
  );
  return (request, response) =>
    (isOfPlayground(pathOf(request.url ?? '')) ? pass : order)(request, response);
}

const LIST = PLAYGROUND_LIST.slice(0, -1);

const isOfPlayground = (path: string): boolean =>
  path.startsWith(PLAYGROUND_BELOW) || path === PLAYGROUND_LIST || path === LIST;

/** Returns the host and the port that the client requested (RFC 9113 section 8.3.1, RFC 9112 section 3.2.2). */
function authorityOf(request: AnyRequest): string {
  const [, named] = /^[a-z]+:\/\/([^/?#]*)/i.exec(request.url ?? '') ?? [];
  if (named !== undefined) return named;
  return ('authority' in request ? request.authority : undefined) || (request.headers.host ?? '');
}

const away = () =>
  new HttpError(503, 'The playground does not run. Try again in a moment.', { 'Retry-After': '5' });

const questions = new Map<number, (port: number | undefined) => void>();
let asked = 0;

/**
 * Asks the parent for the port of the playground. Undefined: the playground does not run, or this process has no such
 * parent.
 */
function portOfPlayground(): Promise<number | undefined> {
  if (asked === 0) process.on('message', hear);
  asked += 1;
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  const question = { playground: asked };
  if (!process.connected) return Promise.resolve(undefined);
  questions.set(asked, resolve);
  process.send?.(question, (error: Error | null) => error && hear(question));
  return promise;
}

function hear(content: unknown): void {
  const { playground, port } = Object(content) as { playground?: number; port?: number };
  if (playground === undefined) return;
  questions.get(playground)?.(port);
  questions.delete(playground);
}
