import { KeyRefusal } from '#shared/keys/key-refusal.ts';
import { NoSuchPerson, PeopleError, Unacceptable } from '#shared/people/people.ts';
import { Conflict, InputError, Missing } from './operation.ts';

/** The first matching class applies. */
const STATUSES = [
  [InputError, 422],
  [Unacceptable, 422],
  [Missing, 404],
  [NoSuchPerson, 404],
  [Conflict, 409],
  [PeopleError, 409],
  [KeyRefusal, 409],
] as const;

/** A refused operation with its HTTP status. */
export interface RefusedOperation {
  readonly status: 404 | 409 | 422;
  readonly error: InstanceType<(typeof STATUSES)[number][0]>;
}

/** Returns the refusal for an error of an operation. Throws any other error again. */
export function refusedOperation(thrown: unknown): RefusedOperation {
  for (const [kind, status] of STATUSES) {
    if (thrown instanceof kind) return { status, error: thrown };
  }
  throw thrown;
}
