/** Thrown if the keys that are there stand against a change; the message says what to do. */
export class KeyRefusal extends Error {
  override readonly name = 'KeyRefusal';
}
