import { expect } from '@jest/globals';
import type { Reply } from '#shared/server/wire/ask.fixture.ts';
import { propertyKey } from '../../../resources/webdav/properties.ts';
import {
  davChild,
  elementsOf,
  isDav,
  type XmlElement,
} from '../../../resources/webdav/xml-element.ts';
import { parseXml } from '../../../resources/webdav/xml-parser.ts';

/** A property in an answer. `error`: the names of the condition codes beside its status. */
export interface FoundProperty {
  readonly status: number;
  readonly element: XmlElement;
  readonly error: readonly string[];
}

/** The text of an element and its descendants. */
export function textOf({ children }: XmlElement): string {
  return children.map((child) => (typeof child === 'string' ? child : textOf(child))).join('');
}

/** The properties of each resource in a 207, by `{namespace}name`. Fails if one is repeated. */
export function propertiesIn(
  reply: Reply,
): ReadonlyMap<string, ReadonlyMap<string, FoundProperty>> {
  expect(reply).toMatchObject({
    status: 207,
    headers: { 'content-type': 'application/xml; charset="utf-8"' },
  });
  const root = parseXml(reply.text);
  expect(isDav(root, 'multistatus')).toBe(true);
  const resources = new Map<string, ReadonlyMap<string, FoundProperty>>();
  for (const response of elementsOf(root)) {
    const href = textOf(part(response, 'href'));
    expect(resources.has(href)).toBe(false);
    resources.set(href, propertiesOf(response));
  }
  return resources;
}

function propertiesOf(response: XmlElement): ReadonlyMap<string, FoundProperty> {
  const properties = new Map<string, FoundProperty>();
  for (const propstat of elementsOf(response).filter((one) => isDav(one, 'propstat'))) {
    const status = Number(textOf(part(propstat, 'status')).split(' ')[1]);
    const codes = davChild(propstat, 'error');
    const error = codes === undefined ? [] : elementsOf(codes).map(({ name }) => name);
    for (const element of elementsOf(part(propstat, 'prop'))) {
      expect(properties.has(propertyKey(element))).toBe(false);
      properties.set(propertyKey(element), { status, element, error });
    }
  }
  return properties;
}

function part(element: XmlElement, name: string): XmlElement {
  const found = davChild(element, name);
  if (found === undefined) throw new Error(`no DAV:${name} in ${element.name}`);
  return found;
}
