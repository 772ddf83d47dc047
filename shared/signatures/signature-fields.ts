import { type Item, type Params, parseUniqueDictionary } from '#shared/http/structured-fields.ts';
import { refuse } from '#shared/refusals/signatures.ts';
import type { Identifier } from './component.ts';
import { BadSignature, type SignedMessage } from './message.ts';

/** A signature of a message (RFC 9421 section 4), not yet verified. */
export interface LabelledSignature {
  readonly label: string;
  readonly identifiers: readonly Identifier[];
  readonly params: Params;
  readonly signature: Buffer;
}

/** The most signatures of a message: two for a rotation of keys, and some that intermediaries have added. */
const MOST = 8;
/** The most components of a signature: more than any known client covers, and few enough to limit the work. */
const MOST_COMPONENTS = 64;

/**
 * Reads the fields Signature-Input and Signature (sections 4.1 and 4.2). Throws `BadSignature` if one of them is
 * malformed, repeats a label, or has a label that the other field lacks.
 */
export function readSignatures(message: SignedMessage): readonly LabelledSignature[] {
  const [inputs, values] = ['signature-input', 'signature'].map((name) => {
    const members = parseUniqueDictionary(message.lines(name).join(', '));
    if (members === undefined) throw new BadSignature(refuse('signature-field', { field: name }));
    return members;
  });
  if (inputs === undefined || values === undefined || inputs.size !== values.size) {
    throw new BadSignature(refuse('signature-labels'));
  }
  if (inputs.size > MOST) throw new BadSignature(refuse('signature-many', { most: MOST }));
  return [...inputs].map(([label, input]) => {
    const value = values.get(label);
    if (input.type !== 'inner-list') throw new BadSignature(refuse('signature-no-list', { label }));
    if (value?.type !== 'bytes') throw new BadSignature(refuse('signature-no-octets', { label }));
    if (input.value.length > MOST_COMPONENTS) {
      throw new BadSignature(refuse('signature-many-components', { label, most: MOST_COMPONENTS }));
    }
    const identifiers = input.value.filter(isIdentifier);
    if (identifiers.length < input.value.length) {
      throw new BadSignature(refuse('signature-no-string', { label }));
    }
    return { label, identifiers, params: input.params, signature: value.value };
  });
}

const isIdentifier = (item: Item): item is Identifier => item.type === 'string';
