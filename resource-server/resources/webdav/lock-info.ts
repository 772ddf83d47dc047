import { HttpError } from '#shared/http/answer.ts';
import type { LockRequest } from './lock-system.ts';
import { davChild, elementsOf, isDav, type XmlElement } from './xml-element.ts';
import { writeXml } from './xml-writer.ts';

/** The longest owner of a lock, in bytes. It is bounded since every write reads all locks of the tree. */
const LONGEST_OWNER = 2048;

/**
 * Reads the content of LOCK (RFC 4918 section 14.11). Throws 422 if it asks for an unknown kind of lock, 413 if
 * the owner is too long.
 */
export function lockInfo(content: XmlElement): Pick<LockRequest, 'exclusive' | 'owner'> {
  const scope = isDav(content, 'lockinfo') ? only(content, 'lockscope') : undefined;
  if (!(scope === 'exclusive' || scope === 'shared') || only(content, 'locktype') !== 'write') {
    throw new HttpError(
      422,
      'Send a DAV:lockinfo that asks for an exclusive or shared write lock.',
    );
  }
  const element = davChild(content, 'owner');
  const owner = element === undefined ? '' : writeXml(element);
  if (Buffer.byteLength(owner) > LONGEST_OWNER) {
    throw new HttpError(413, `The owner of a lock is described in ${LONGEST_OWNER} bytes.`);
  }
  return { exclusive: scope === 'exclusive', owner };
}

/** The name of the only element of namespace `DAV:` in a member of a lockinfo. */
function only(content: XmlElement, name: string): string | undefined {
  const member = davChild(content, name);
  const [first, second] = member === undefined ? [] : elementsOf(member);
  return first !== undefined && second === undefined && isDav(first, first.name)
    ? first.name
    : undefined;
}
