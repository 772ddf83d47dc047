import { HttpError } from '#shared/server/answer.ts';
import type { Entry } from '#shared/stores/trees.ts';
import { conditionMarkup } from './dav-error.ts';
import type { Propstat } from './multi-status.ts';
import { isProtected, propertyKey } from './properties.ts';
import { elementsOf, isDav, type XmlElement } from './xml-element.ts';
import { emptyElement, writeXml } from './xml-writer.ts';

/** Bytes of the markup of a dead property, and of all those of a resource with their names. */
const LONGEST = 64 * 1024;
const MOST = 256 * 1024;

type Properties = Entry['properties'];

/** Sets a property to an element, or removes the property of its name. */
export interface PropertyInstruction {
  readonly kind: 'set' | 'remove';
  readonly element: XmlElement;
}

/** What the content of PROPPATCH asks, in its order (RFC 4918 section 14.19). Throws `HttpError` 422 when it asks nothing. */
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
  return instructions;
}

/** What became of each property, and all dead properties afterwards; undefined: not one has changed. */
export interface PropertyUpdate {
  readonly properties: Properties | undefined;
  readonly propstats: readonly Propstat[];
}

/** Does all instructions or none (RFC 4918 section 9.2). */
export function updateProperties(
  before: Properties,
  instructions: readonly PropertyInstruction[],
): PropertyUpdate {
  const names = new Map(instructions.map(({ element }) => [propertyKey(element), element]));
  const failed = new Map<string, 403 | 507>();
  for (const [key, name] of names) if (isProtected(name)) failed.set(key, 403);

  const properties = new Map(Object.entries(before));
  let size = [...properties].reduce((sum, property) => sum + sizeOf(property), 0);
  for (const { kind, element } of instructions) {
    // What comes after a failure is not even written out: it could be large a thousand times over.
    if (failed.size > 0) break;
    const key = propertyKey(element);
    size -= sizeOf([key, properties.get(key)]);
    properties.delete(key);
    if (kind === 'set') {
      const markup = writeXml(element);
      size += sizeOf([key, markup]);
      properties.set(key, markup);
      if (Buffer.byteLength(markup) > LONGEST || size > MOST) failed.set(key, 507);
    }
  }

  const otherwise = failed.size === 0 ? 200 : 424;
  const statuses = Map.groupBy(names, ([key]) => failed.get(key) ?? otherwise);
  return {
    properties: failed.size === 0 ? Object.fromEntries(properties) : undefined,
    propstats: [...statuses].map(([status, there]) => ({
      status,
      properties: there.map(([, name]) => emptyElement(name)),
      condition: status === 403 ? conditionMarkup('cannot-modify-protected-property') : undefined,
    })),
  };
}

function sizeOf([key, markup]: readonly [string, string | undefined]): number {
  return markup === undefined ? 0 : Buffer.byteLength(key) + Buffer.byteLength(markup);
}
