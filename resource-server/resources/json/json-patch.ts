import { BadRequest } from '#shared/http/fields.ts';
import { HttpError, notFound } from '#shared/http/answer.ts';
import { Draft } from './draft.ts';
import { unprocessable } from '#shared/http/answer.ts';
import { parsePointer, type Pointer } from './pointer.ts';
import { equal, type Json } from './value.ts';

/** Operations in a patch, at most. */
const MAX_OPERATIONS = 1000;

/** Does one operation; false: it does not apply. */
type Step = (draft: Draft) => boolean;
type Members = ReadonlyMap<string, Json>;

/** RFC 6902 section 4. Members that an operation does not define are ignored. */
const OPERATIONS: ReadonlyMap<Json | undefined, (members: Members) => Step> = new Map([
  ['add', add],
  ['remove', remove],
  ['replace', replace],
  ['move', move],
  ['copy', copy],
  ['test', test],
]);

/**
 * What a JSON Patch (RFC 6902) makes of a document, which is used up; undefined: there is none. Throws
 * `BadRequest` when it is no JSON Patch, `HttpError` 422 when it can be applied to nothing; what it returns
 * throws 409 when it does not apply to the document (404: when there is none), and 422 when it goes too far.
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
      if (step(draft)) continue;
      if (document === undefined) throw notFound();
      throw new HttpError(409, `Operation ${index} of the patch does not apply to the document.`);
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
  return (draft) => draft.add(path, draft.copy(value));
}

function remove(members: Members): Step {
  const path = pointer(members, 'path');
  return (draft) => draft.remove(path) !== undefined;
}

function replace(members: Members): Step {
  const path = pointer(members, 'path');
  const value = valueOf(members);
  return (draft) => draft.replace(path, draft.copy(value));
}

function move(members: Members): Step {
  const from = pointer(members, 'from');
  const path = pointer(members, 'path');
  if (from.length < path.length && from.every((token, index) => token === path[index])) {
    throw unprocessable('Nothing can be moved into itself (RFC 6902 section 4.4).');
  }
  return (draft) => {
    const value = draft.remove(from);
    return value !== undefined && draft.add(path, value);
  };
}

function copy(members: Members): Step {
  const from = pointer(members, 'from');
  const path = pointer(members, 'path');
  return (draft) => {
    const value = draft.get(from);
    return value !== undefined && draft.add(path, draft.copy(value));
  };
}

function test(members: Members): Step {
  const path = pointer(members, 'path');
  const value = valueOf(members);
  return (draft) => {
    const found = draft.get(path);
    return found !== undefined && equal(found, value);
  };
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
