import { BadRequest } from '#shared/http/fields.ts';
import { HttpError, notFound } from '#shared/http/answer.ts';
import { Draft } from './draft.ts';
import { unprocessable } from '#shared/http/answer.ts';
import { parsePointer, type Pointer } from './pointer.ts';
import { equal, type Json } from './value.ts';

/** The most operations in a patch. */
const MAX_OPERATIONS = 1000;

/** The most characters of a pointer that an error quotes. */
const QUOTED = 100;

/** Performs one operation. Returns the reason if it does not apply, else undefined. */
type Step = (draft: Draft) => string | undefined;
type Members = ReadonlyMap<string, Json>;

/** The operations of RFC 6902 section 4. Unknown members of an operation are ignored. */
const OPERATIONS: ReadonlyMap<Json | undefined, (members: Members) => Step> = new Map([
  ['add', add],
  ['remove', remove],
  ['replace', replace],
  ['move', move],
  ['copy', copy],
  ['test', test],
]);

/**
 * Compiles a JSON Patch (RFC 6902) to a function from a document to the patched document. Undefined means no document.
 * The function modifies its argument.
 * Throws `BadRequest` for a value that is no JSON Patch, and `HttpError` 422 for a patch that applies to no document.
 * The function throws 409 if the patch does not apply to the document, 404 without a document, and 422 over a limit.
 */
export function jsonPatch(patch: Json): (document: Json | undefined) => Json {
  if (!Array.isArray(patch)) throw new BadRequest('A JSON Patch is an array of operations.');
  if (patch.length > MAX_OPERATIONS) {
    throw unprocessable(`A patch has at most ${MAX_OPERATIONS} operations.`);
  }
  const steps = patch.map(parseOperation);
  return (document) => {
    const draft = new Draft(document);
    for (const [index, step] of steps.entries()) {
      const reason = step(draft);
      if (reason === undefined) continue;
      if (document === undefined) throw notFound();
      const detail = `Operation ${index} of the patch (the first is 0) does not apply: ${reason}`;
      throw new HttpError(409, detail);
    }
    if (draft.root !== undefined) return draft.root;
    throw document === undefined
      ? notFound()
      : unprocessable('Nothing would be left of the document. Use DELETE.');
  };
}

function parseOperation(operation: Json): Step {
  const op = operation instanceof Map ? operation.get('op') : undefined;
  if (!(operation instanceof Map) || typeof op !== 'string') {
    throw new BadRequest('An operation is an object that has a string as its member "op".');
  }
  const parse = OPERATIONS.get(op);
  if (parse === undefined) throw unprocessable('RFC 6902 has no such operation as the patch.');
  return parse(operation);
}

function add(members: Members): Step {
  const path = pointer(members, 'path');
  const value = valueOf(members);
  return (draft) => (draft.add(path, draft.copy(value)) ? undefined : noPlace(members));
}

function remove(members: Members): Step {
  const path = pointer(members, 'path');
  return (draft) => (draft.remove(path) === undefined ? missing(members, 'path') : undefined);
}

function replace(members: Members): Step {
  const path = pointer(members, 'path');
  const value = valueOf(members);
  return (draft) => (draft.replace(path, draft.copy(value)) ? undefined : missing(members, 'path'));
}

function move(members: Members): Step {
  const from = pointer(members, 'from');
  const path = pointer(members, 'path');
  if (from.length < path.length && from.every((token, index) => token === path[index])) {
    throw unprocessable('Nothing can be moved into itself (RFC 6902 section 4.4).');
  }
  return (draft) => {
    const value = draft.remove(from);
    if (value === undefined) return missing(members, 'from');
    return draft.add(path, value) ? undefined : noPlace(members);
  };
}

function copy(members: Members): Step {
  const from = pointer(members, 'from');
  const path = pointer(members, 'path');
  return (draft) => {
    const value = draft.get(from);
    if (value === undefined) return missing(members, 'from');
    return draft.add(path, draft.copy(value)) ? undefined : noPlace(members);
  };
}

function test(members: Members): Step {
  const path = pointer(members, 'path');
  const value = valueOf(members);
  return (draft) => {
    const found = draft.get(path);
    if (found === undefined) return missing(members, 'path');
    return equal(found, value) ? undefined : `the value at ${quoted(members, 'path')} is another.`;
  };
}

const missing = (members: Members, name: 'path' | 'from') =>
  `there is nothing at ${quoted(members, name)}.`;

const noPlace = (members: Members) =>
  `nothing can be added at ${quoted(members, 'path')}: its parent is missing or a plain value, or the index is past the end.`;

/** The pointer of an operation, as it was sent. */
function quoted(members: Members, name: 'path' | 'from'): string {
  const text = members.get(name);
  if (typeof text !== 'string') throw new TypeError('only a parsed operation is done');
  return JSON.stringify(text.length > QUOTED ? `${text.slice(0, QUOTED)}...` : text);
}

function pointer(members: Members, name: 'path' | 'from'): Pointer {
  const text = members.get(name);
  if (typeof text === 'string') return parsePointer(text);
  throw new BadRequest(`An operation lacks its "${name}", or it is no string.`);
}

function valueOf(members: Members): Json {
  const value = members.get('value');
  if (value === undefined) throw new BadRequest('An operation lacks its "value".');
  return value;
}
