import { HttpError } from '#shared/http/answer.ts';
import type { LockRequest } from './lock-system.ts';
import { davChild, elementsOf, isDav, type XmlElement } from './xml-element.ts';
import { writeXml } from './xml-writer.ts';

/** Bytes of what is kept with a lock of its owner, since every write looks at all locks of the tree. */
const LONGEST_OWNER = 2048;

/**
 * Reads the content of LOCK (RFC 4918 section 14.11). Throws 422 when it asks for no kind of lock there
 * is, 413 when it says too much of the owner.
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

/** Name of the one element of namespace `DAV:` in a member of a lockinfo. */
function only(content: XmlElement, name: string): string | undefined {
  const member = davChild(content, name);
  const [first, second] = member === undefined ? [] : elementsOf(member);
  return first !== undefined && second === undefined && isDav(first, first.name)
    ? first.name
    : undefined;
}
