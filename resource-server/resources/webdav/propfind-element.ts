import { HttpError } from '#shared/http/answer.ts';
import type { Subject } from './live-properties.ts';
import type { Propstat } from './multi-status.ts';
import { allProperties, propertyKey, propertyNames, propertyReader } from './properties.ts';
import { davChild, elementsOf, isDav, type XmlElement } from './xml-element.ts';
import { emptyElement } from './xml-writer.ts';

/** Properties that a request can name, and bytes of their names: each is answered for each resource. */
const MOST_NAMED = 256;
const LONGEST_NAMES = 16 * 1024;

interface Named {
  readonly read: ReturnType<typeof propertyReader>;
  /** Markup of the property without a value. */
  readonly empty: string;
}

/** Says of a resource what was asked. */
export type PropertyQuestion = (subject: Subject) => readonly Propstat[];

const QUESTIONS: Readonly<Record<string, (root: XmlElement) => PropertyQuestion>> = {
  propname: () => (subject) => [{ status: 200, properties: propertyNames(subject) }],
  prop: (root) => named(namesIn(root, 'prop'), () => []),
  allprop: (root) => named(namesIn(root, 'include'), allProperties),
};

/**
 * What the content of PROPFIND asks (RFC 4918 section 14.20); without content, for all. Throws `HttpError` 422
 * when it asks nothing or several things, 413 when it names too many properties or has too long names for
 * them.
 */
export function propertyQuestion(root: XmlElement | undefined): PropertyQuestion {
  if (root === undefined) return named([], allProperties);
  const asked = isDav(root, 'propfind')
    ? Object.entries(QUESTIONS).filter(([name]) => davChild(root, name) !== undefined)
    : [];
  const [question] = asked;
  if (question === undefined || asked.length > 1) {
    throw new HttpError(422, 'Send DAV:propfind with one of allprop, propname and prop.');
  }
  return question[1](root);
}

function namesIn(root: XmlElement, container: string): readonly Named[] {
  const element = davChild(root, container);
  const elements = element === undefined ? [] : elementsOf(element);
  if (elements.length > MOST_NAMED) {
    throw new HttpError(413, `One request can name ${MOST_NAMED} properties.`);
  }
  const byKey = new Map(elements.map((one) => [propertyKey(one), one]));
  const names = [...byKey.values()].map((one) => ({
    read: propertyReader(one),
    empty: emptyElement(one),
  }));
  const bytes = names.reduce((sum, { empty }) => sum + Buffer.byteLength(empty), 0);
  if (bytes > LONGEST_NAMES) {
    throw new HttpError(413, `The names of properties have ${LONGEST_NAMES} bytes at most.`);
  }
  return names;
}

/** Properties besides the others; what is missing is 404 (RFC 4918 section 9.1.2). */
function named(
  names: readonly Named[],
  others: (subject: Subject) => readonly string[],
): PropertyQuestion {
  return (subject) => {
    const unnamed = others(subject);
    const found = [...unnamed];
    const missing: string[] = [];
    for (const { read, empty } of names) {
      const markup = read(subject);
      if (markup === undefined) missing.push(empty);
      // A property has the same markup each time it is read, and comes once (section 9.1).
      else if (!unnamed.includes(markup)) found.push(markup);
    }
    if (missing.length === 0) return [{ status: 200, properties: found }];
    const none = { status: 404, properties: missing };
    return found.length === 0 ? [none] : [{ status: 200, properties: found }, none];
  };
}
