import { LIVE_PROPERTIES, type Subject } from './live-properties.ts';
import { DAV, type XmlElement } from './xml-element.ts';
import { dav, emptyElement } from './xml-writer.ts';

/** The name of a property (RFC 4918 section 4.4). */
export type PropertyName = Pick<XmlElement, 'namespace' | 'name'>;

/** Live properties are the server's own: PROPPATCH cannot change them (RFC 4918 section 15). */
export function isProtected({ namespace, name }: PropertyName): boolean {
  return namespace === DAV && LIVE_PROPERTIES.has(name);
}

/** The key of a property in the rows of dead ones. */
export function propertyKey({ namespace, name }: PropertyName): string {
  return `{${namespace}}${name}`;
}

/** Returns a reader of the markup of one property. The reader returns undefined for a resource that lacks it. */
export function propertyReader(property: PropertyName): (subject: Subject) => string | undefined {
  const live = isProtected(property) ? LIVE_PROPERTIES.get(property.name) : undefined;
  const key = propertyKey(property);
  return live?.read ?? (({ entry }) => entry.properties[key]);
}

/** The markup of DAV:allprop: all dead properties, and the live properties that are cheap to compute. */
export function allProperties(subject: Subject): string[] {
  const live = [...LIVE_PROPERTIES.values()].map((property) =>
    property.inAllprop ? property.read(subject) : undefined,
  );
  const dead = Object.values(subject.entry.properties);
  return [...live.filter((markup) => markup !== undefined), ...dead];
}

/** An empty element for each property of a resource, for DAV:propname. */
export function propertyNames(subject: Subject): string[] {
  const live = [...LIVE_PROPERTIES].filter(([, { read }]) => read(subject) !== undefined);
  const dead = Object.keys(subject.entry.properties).map(nameOf);
  return [...live.map(([name]) => dav(name)), ...dead.map(emptyElement)];
}

/** Splits a key at the brace: no name contains one. */
function nameOf(key: string): PropertyName {
  const end = key.lastIndexOf('}');
  return { namespace: key.slice(1, end), name: key.slice(end + 1) };
}
