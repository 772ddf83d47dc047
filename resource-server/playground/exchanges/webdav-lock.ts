import type { Exchange } from '../exchange.ts';
import { fieldOf, type FieldLine } from '../http1-message.ts';
import { documentOf, OF_DOCUMENTS } from './documents.ts';
import { atDocuments } from '../in-shell.ts';

const LOCK_INFO =
  '<?xml version="1.0" encoding="utf-8"?><lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>';

const XML = 'Content-Type: application/xml';

const OTHER_TOKEN = '<urn:uuid:00000000-0000-4000-8000-000000000000>';

/** The exchange of WebDAV locks (RFC 4918 sections 6, 9.10 and 9.11). */
export const webdavLockExchange: Exchange = {
  ...OF_DOCUMENTS,
  name: 'webdav-lock',
  title: 'WebDAV: LOCK and UNLOCK',
  longName: 'Web Distributed Authoring and Versioning',
  about:
    'A client locks a document for a while. From then on, a client that changes the document has to send the token of the lock. The token works only for the account that has locked the document.',
  standard: 'RFC 4918',
  command: atDocuments(['note.txt', '-X', 'LOCK', '-H', XML, '-H', 'Depth: 0', '-d', LOCK_INFO]),
  mistakes: {
    stripped: 'A change without the token',
    token: 'A change with another token',
    unlock: 'An unlock with another token',
    twice: 'A second lock',
  },
  async perform(performing) {
    const { ask, remove } = documentOf(performing, 'txt');
    const { remark, mistake = '' } = performing;
    const lock = (title: string) =>
      ask(title, {
        method: 'LOCK',
        fields: [
          ['Content-Type', 'application/xml'],
          ['Depth', '0'],
          ['Timeout', 'Second-60'],
        ],
        content: LOCK_INFO,
      });
    const locked = await lock('The client locks an address where nothing is, for a minute');
    const token = fieldOf(locked, 'Lock-Token');
    remark(
      'LOCK has made an empty document, so that no other client takes the name (RFC 4918 section 7.3).',
    );
    const shown: Readonly<Record<string, readonly FieldLine[]>> = {
      stripped: [],
      token: [['If', `(${OTHER_TOKEN})`]],
    };
    if (mistake === 'twice') {
      await lock('The client locks it again');
    } else {
      await ask('The client writes the document, and sends the token', {
        method: 'PUT',
        fields: [['Content-Type', 'text/plain'], ...(shown[mistake] ?? [['If', `(${token})`]])],
        content: 'one',
      });
    }
    if (mistake === '' || mistake === 'unlock') {
      await ask('The client removes the lock', {
        method: 'UNLOCK',
        fields: [['Lock-Token', mistake === 'unlock' ? OTHER_TOKEN : token]],
      });
    }
    await remove(mistake === '' ? [] : [['If', `(${token})`]]);
  },
};
