import type { Principal } from '#shared/auth/scheme.ts';
import {
  type Answer,
  HttpError,
  methodNotAllowed,
  notFound,
  UNSTORED,
} from '#shared/http/answer.ts';
import { problem } from '#shared/http/problem.ts';
import { KeyRefusal } from '#shared/keys/key-refusal.ts';
import {
  Conflict,
  type House,
  InputError,
  Missing,
  type Operation,
  perform,
} from '#shared/operations/operation.ts';
import { OPERATIONS } from '#shared/operations/operations.ts';
import { fromTexts, withoutOptions } from '#shared/operations/texts.ts';
import { NoSuchPerson, PeopleError, Unacceptable } from '#shared/people/people.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import type { Work } from '../resources/protection.ts';
import { isAdministrator } from '../base/administrator.ts';
import { receiveJson } from './json-content.ts';

/** The name of an operation in its address. */
export const pathOf = ({ name }: Pick<Operation, 'name'>) =>
  `/admin/api/${name.replaceAll(' ', '-')}`;

const BY_PATH: ReadonlyMap<string, Operation> = new Map(
  OPERATIONS.map((operation) => [pathOf(operation), operation]),
);

/**
 * `/admin/api/OPERATION`: does an operation for an administrator. What reads takes GET and its members in the query,
 * what changes POST and a JSON object. Nobody else learns which operations there are.
 */
export function adminApi(house: House): Work {
  return async (request, { principal, judgeAgain }) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://any');
    const refuseOthers = async () => {
      if (!(await isAdministrator(house.stores, principal))) throw notFound();
    };
    await refuseOthers();
    const operation = BY_PATH.get(pathname);
    if (operation === undefined) throw notFound();
    const allowed: readonly string[] = METHODS_OF[operation.effect];
    if (!allowed.includes(request.method ?? '')) throw methodNotAllowed(allowed.join(', '));
    try {
      const given = await givenIn(request, searchParams, operation);
      // Content may come so slowly that its sender has lost the right meanwhile.
      if (operation.effect === 'changes') await Promise.all([judgeAgain(), refuseOthers()]);
      const recorder = house.recorder.by({ who: actorOf(principal), how: 'http' });
      return json(await perform(operation, given, { ...house, recorder }));
    } catch (error) {
      return refusal(operation, error);
    }
  };
}

/** Returns the person, or the client that comes in the name of nobody. */
const actorOf = (principal: Principal) =>
  principal.kind === 'person'
    ? { person: principal.name }
    : { client: (principal.kind === 'application' && principal.claims?.['client_id']) || '' };

const METHODS_OF = {
  reads: ['GET', 'HEAD', 'OPTIONS'],
  changes: ['OPTIONS', 'POST'],
} as const satisfies Record<Operation['effect'], readonly string[]>;

function givenIn(
  request: AnyRequest,
  query: URLSearchParams,
  { effect, input }: Operation,
): unknown {
  if (effect === 'reads') {
    const names = new Set(query.keys());
    return fromTexts(input, new Map([...names].map((name) => [name, query.getAll(name)])));
  }
  if (query.size > 0) throw new HttpError(400, 'Put the members into the content, not the query.');
  return receiveJson(request);
}

const json = (told: unknown): Answer => ({
  status: 200,
  fields: { ...UNSTORED, 'Content-Type': 'application/json' },
  body: JSON.stringify(told),
});

/** Returns the answer to an operation that was not done; throws what is no refusal of it. */
function refusal({ input }: Operation, error: unknown): Answer {
  if (error instanceof InputError) {
    const { path } = error;
    const message = withoutOptions(error.message, input, (member) => member);
    const pointer = path.map((member) => `/${escaped(member)}`).join('');
    const detail = path.length === 0 ? sentence({ message }) : `${path.join('.')} ${message}.`;
    return refused(422, detail, { path: pointer });
  }
  if (error instanceof Unacceptable) {
    return refused(422, sentence(error), { path: `/${error.member}` });
  }
  if (error instanceof Missing || error instanceof NoSuchPerson) {
    return refused(404, sentence(error));
  }
  if (CONFLICTS.some((kind) => error instanceof kind))
    return refused(409, sentence(error as Error));
  throw error;
}

/** Errors that say that what is there stands against a change. */
const CONFLICTS = [Conflict, PeopleError, KeyRefusal];

/** RFC 6901 section 3. */
const escaped = (member: string) => member.replaceAll('~', '~0').replaceAll('/', '~1');

const sentence = ({ message }: Pick<Error, 'message'>) =>
  `${message.slice(0, 1).toUpperCase()}${message.slice(1)}.`;

function refused(status: number, detail: string, extra?: { readonly path: string }): Answer {
  const { type, body } = problem(status, undefined, detail, extra);
  return { status, fields: { ...UNSTORED, 'Content-Type': type }, body };
}
