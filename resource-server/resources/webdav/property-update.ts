import { HttpError } from '#shared/http/answer.ts';
import type { Entry } from '#shared/stores/trees/trees.ts';
import { conditionMarkup } from './dav-error.ts';
import type { Propstat } from './multi-status.ts';
import { isProtected, propertyKey } from './properties.ts';
import { elementsOf, isDav, type XmlElement } from './xml-element.ts';
import { emptyElement, writeXml } from './xml-writer.ts';

/** The most properties that a request can set and remove. */
const MOST_INSTRUCTIONS = 256;
/** The most bytes of the dead properties of a resource, names included, since the server reads them together. */
const MOST = 32 * 1024;

type Properties = Entry['properties'];

/** Sets a property to an element, or removes the property with that name. */
export interface PropertyInstruction {
  readonly kind: 'set' | 'remove';
  readonly element: XmlElement;
}

/**
 * Reads the instructions of PROPPATCH in their order (RFC 4918 section 14.19). Throws `HttpError` 422 if there are
 * none, 413 if there are too many.
 */
export function propertyInstructions(root: XmlElement): readonly PropertyInstruction[] {
  const updates = isDav(root, 'propertyupdate') ? elementsOf(root) : [];
  const instructions = updates.flatMap((update) => {
    const kind = (['set', 'remove'] as const).find((name) => isDav(update, name));
    const named = elementsOf(update).filter((child) => isDav(child, 'prop'));
    return kind === undefined
      ? []
      : named.flatMap(elementsOf).map((element) => ({ kind, element }));
  });
  if (instructions.length === 0) {
    throw new HttpError(422, 'Send DAV:propertyupdate that sets or removes a property.');
  }
  if (instructions.length > MOST_INSTRUCTIONS) {
    throw new HttpError(413, `One request can set and remove ${MOST_INSTRUCTIONS} properties.`);
  }
  return instructions;
}

/** The status of each property, and all dead properties afterwards. Undefined properties: none has changed. */
export interface PropertyUpdate {
  readonly properties: Properties | undefined;
  readonly propstats: readonly Propstat[];
}

/** Performs all instructions or none. If several are about one property, the last counts (RFC 4918 section 9.2). */
export function updateProperties(
  before: Properties,
  instructions: readonly PropertyInstruction[],
): PropertyUpdate {
  const last = new Map(instructions.map((one) => [propertyKey(one.element), one]));
  const failed = new Map<string, 403 | 507>();
  for (const [key, { element }] of last) if (isProtected(element)) failed.set(key, 403);

  const properties = new Map(Object.entries(before).filter(([key]) => !last.has(key)));
  let size = [...properties].reduce((sum, property) => sum + sizeOf(property), 0);
  for (const [key, { kind, element }] of last) {
    // Instructions after a failure are not written out, since namespaces can make them many times larger.
    if (failed.size > 0) break;
    if (kind === 'remove') continue;
    const markup = writeXml(element);
    size += sizeOf([key, markup]);
    properties.set(key, markup);
    if (size > MOST) failed.set(key, 507);
  }

  const otherwise = failed.size === 0 ? 200 : 424;
  const statuses = Map.groupBy(last, ([key]) => failed.get(key) ?? otherwise);
  return {
    properties: failed.size === 0 ? Object.fromEntries(properties) : undefined,
    propstats: [...statuses].map(([status, there]) => ({
      status,
      properties: there.map(([, { element }]) => emptyElement(element)),
      condition: status === 403 ? conditionMarkup('cannot-modify-protected-property') : undefined,
    })),
  };
}

function sizeOf([key, markup]: readonly [string, string]): number {
  return Buffer.byteLength(key) + Buffer.byteLength(markup);
}
