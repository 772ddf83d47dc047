import { Refused } from '#shared/refusals/operations.ts';
/** Thrown if the present keys prevent a change; the message says what to do. */
export class KeyRefusal extends Refused {
  override readonly name = 'KeyRefusal';
}
