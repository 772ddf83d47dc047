import { HttpError } from '#shared/http/answer.ts';
import type { Subject } from './live-properties.ts';
import type { Propstat } from './multi-status.ts';
import { allProperties, propertyKey, propertyNames, propertyReader } from './properties.ts';
import { davChild, elementsOf, isDav, type XmlElement } from './xml-element.ts';
import { emptyElement } from './xml-writer.ts';

/**
 * The most properties that a request can name, and the most bytes of their names, since each is answered for each
 * resource.
 */
const MOST_NAMED = 256;
const LONGEST_NAMES = 16 * 1024;

interface Named {
  readonly read: ReturnType<typeof propertyReader>;
  /** The markup of the property without a value. */
  readonly empty: string;
}

/** A question of PROPFIND that is asked about each resource. */
export interface PropertyQuestion {
  /** Equal for questions with equal answers. */
  readonly key: string;
  /** Returns the answer for one resource. */
  answer(subject: Subject): readonly Propstat[];
}

const QUESTIONS: Readonly<Record<string, (root: XmlElement) => PropertyQuestion>> = {
  propname: () => ({
    key: 'propname',
    answer: (subject) => [{ status: 200, properties: propertyNames(subject) }],
  }),
  prop: (root) => named('prop', namesIn(root, 'prop'), () => []),
  allprop: (root) => named('allprop', namesIn(root, 'include'), allProperties),
};

/**
 * Reads the content of PROPFIND (RFC 4918 section 14.20). Without content, all properties are asked for. Throws
 * `HttpError` 422 if it asks for nothing or for several things, 413 if it names too many properties or their names
 * are too long.
 */
export function propertyQuestion(root: XmlElement | undefined): PropertyQuestion {
  if (root === undefined) return named('allprop', [], allProperties);
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

/** Adds named properties to the others. Missing properties are 404 (RFC 4918 section 9.1.2). */
function named(
  kind: string,
  names: readonly Named[],
  others: (subject: Subject) => readonly string[],
): PropertyQuestion {
  const key = [kind, ...names.map(({ empty }) => empty)].join(' ');
  const answer: PropertyQuestion['answer'] = (subject) => {
    const unnamed = others(subject);
    const found = [...unnamed];
    const missing: string[] = [];
    for (const { read, empty } of names) {
      const markup = read(subject);
      if (markup === undefined) missing.push(empty);
      // Equal properties have equal markup, and each is included once (section 9.1).
      else if (!unnamed.includes(markup)) found.push(markup);
    }
    if (missing.length === 0) return [{ status: 200, properties: found }];
    const none = { status: 404, properties: missing };
    return found.length === 0 ? [none] : [{ status: 200, properties: found }, none];
  };
  return { key, answer };
}
