import type { Principal } from '#shared/auth/scheme.ts';
import {
  type Answer,
  HttpError,
  methodNotAllowed,
  notFound,
  UNSTORED,
} from '#shared/http/answer.ts';
import { problem } from '#shared/http/problem.ts';
import { type House, InputError, type Operation, perform } from '#shared/operations/operation.ts';
import { OPERATIONS as ALL } from '#shared/operations/operations.ts';
import { refusedOperation } from '#shared/operations/refusal-status.ts';
import { fromTexts, withoutOptions } from '#shared/operations/texts.ts';
import { sentenceIn } from '#shared/refusals/languages.ts';
import { OPERATIONS } from '#shared/refusals/operations.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import type { Work } from '../resources/protection.ts';
import { isAdministrator } from '../base/administrator.ts';
import { receiveJson } from './json-content.ts';

/** The name of an operation in its address. */
export const pathOf = ({ name }: Pick<Operation, 'name'>) =>
  `/admin/api/${name.replaceAll(' ', '-')}`;

const BY_PATH: ReadonlyMap<string, Operation> = new Map(
  ALL.map((operation) => [pathOf(operation), operation]),
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
function refusal({ input }: Operation, thrown: unknown): Answer {
  const { error, status } = refusedOperation(thrown);
  const { message, ...words } = error.words;
  const isOfMember = error instanceof InputError && error.path.length > 0;
  const told = isOfMember
    ? `${error.path.join('.')} ${message}.`
    : sentenceIn(OPERATIONS, error.words);
  const path =
    error instanceof InputError ? error.path : 'member' in error ? [error.member] : undefined;
  const { type, body } = problem(
    status,
    undefined,
    withoutOptions(told, input, (member) => member),
    { ...(path && { path: path.map((member) => `/${escaped(member)}`).join('') }), ...words },
  );
  return { status, fields: { ...UNSTORED, 'Content-Type': type }, body };
}

/** RFC 6901 section 3. */
const escaped = (member: string) => member.replaceAll('~', '~0').replaceAll('/', '~1');
