import type { Clock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { type Answer, HttpError } from '#shared/http/answer.ts';
import { wholeContent } from '#shared/server/content/content.ts';
import { listen } from '#shared/server/listen/listen.ts';
import { errorAnswer, send } from '#shared/server/message/answer.ts';
import type { AnyHandler, AnyRequest } from '#shared/server/message/message.ts';
import { AT_ONCE } from './at-once.ts';

/** The longest accepted content of a QUERY, in bytes. */
const LONGEST = 256;
const PEOPLE = [
  { name: 'Alice', age: 31 },
  { name: 'Bob', age: 27 },
];

/** The application behind the playground's own gateway. */
export interface Application extends AsyncDisposable {
  readonly url: string;
}

/**
 * Starts an application whose answers caches may keep for a minute. It serves one list of people at any path, and each
 * answer says how often the application was asked. It accepts no changes, so strangers who find its port change
 * nothing.
 */
export async function startApplication(clock: Clock): Promise<Application> {
  let asked = 0;
  const handler: AnyHandler = async (request, response) => {
    asked += 1;
    const answer = await answerTo(request, asked).catch(errorAnswer);
    response.setHeader('Date', new Date(clock.now()).toUTCString());
    send(request, response, answer);
  };
  const listening = await listen({
    host: '127.0.0.1',
    port: 0,
    handler,
    ofProcess: true,
    log: silentLog,
    limits: { connections: { address: 2 * AT_ONCE, total: 2 * AT_ONCE } },
  });
  return {
    url: `http://127.0.0.1:${listening.port}/`,
    [Symbol.asyncDispose]: () => listening.close(0),
  };
}

async function answerTo(request: AnyRequest, asked: number): Promise<Answer> {
  const over = request.method === 'QUERY' ? await questionOf(request) : 0;
  const names = PEOPLE.filter(({ age }) => age > over).map(({ name }) => name);
  // A shared cache stores an answer to a request with credentials only if the answer permits it (RFC 9111 section 3.5).
  const fields = { 'Cache-Control': 'public, max-age=60', 'Content-Type': 'application/json' };
  return { status: 200, fields, body: JSON.stringify({ names, asked }) };
}

/** Reads a question such as `over=30`, a form as in RFC 10008 appendix A. */
async function questionOf(request: AnyRequest): Promise<number> {
  const tooLong = () => new HttpError(413, 'The question is too long.');
  const content = await wholeContent(request, LONGEST, tooLong);
  if (request.headers['content-type'] !== 'application/x-www-form-urlencoded') {
    throw new HttpError(415, 'A question is a form: application/x-www-form-urlencoded.');
  }
  const [, years] = /^over=(\d{1,3})$/.exec(content.toString()) ?? [];
  if (years === undefined) throw new HttpError(422, 'A question is over= with a number of years.');
  return Number(years);
}
