import { parseJson } from '../../resources/json/parse.ts';
import { readPatch, receivePatch } from '../../resources/json/patch-document.ts';
import { checkUpload } from '../../resources/content/upload.ts';
import { FORMATS } from '../../resources/query/formats.ts';
import { receiveQuery } from '../../resources/query/query-content.ts';
import { lockInfo } from '../../resources/webdav/lock-info.ts';
import { readXml } from '../../resources/webdav/xml.ts';
import { PERSON } from '../person.ts';
import type { DocumentKnown } from './document-known.ts';
import type { CheckStep } from './in-order.ts';
import { incoming } from './incoming.ts';

type Steps = readonly CheckStep<DocumentKnown>[];

const of =
  (name: string) =>
  ({ method }: DocumentKnown): boolean =>
    method === name;

/** Checks of the content by itself, which need no state. */
export const CONTENT_STEPS: Steps = [
  {
    check: 'The content is a whole document, is not compressed, and has a media type.',
    section: 'RFC 9110 section 9.3.4',
    applies: of('PUT'),
    finds({ asked }) {
      checkUpload(incoming(asked), Infinity);
      return undefined;
    },
  },
  {
    check: 'The patch is of a type that the server takes.',
    section: 'RFC 5789 section 2.2',
    applies: of('PATCH'),
    async finds({ asked }) {
      await receivePatch(incoming(asked));
      return undefined;
    },
  },
  {
    check: 'The patch is well-formed.',
    section: 'RFC 5789 section 2.2',
    applies: of('PATCH'),
    async finds({ asked }) {
      readPatch(await receivePatch(incoming(asked)));
      return undefined;
    },
  },
  {
    check: 'The question says its language, and the server knows it.',
    section: 'RFC 10008 section 2.1',
    applies: of('QUERY'),
    async finds({ asked }) {
      await receiveQuery(incoming(asked));
      return undefined;
    },
  },
  {
    check: 'The question is well-formed.',
    section: 'RFC 9535 section 2.1',
    applies: of('QUERY'),
    async finds({ asked }) {
      const { type, text } = await receiveQuery(incoming(asked));
      FORMATS.get(type)?.(text);
      return undefined;
    },
  },
  {
    check: 'The content asks for an exclusive or shared write lock, in XML.',
    section: 'RFC 4918 section 9.10.1',
    applies: of('LOCK'),
    async finds({ asked }) {
      const content = await readXml(incoming(asked), PERSON.id);
      if (content !== undefined) lockInfo(content);
      return undefined;
    },
  },
];

/** The last check of a patch: it can be applied to the document as it is now. */
export const PATCH_STEP: CheckStep<DocumentKnown> = {
  check: 'All its operations can be done, and all its tests hold.',
  section: 'RFC 6902 section 5',
  applies: ({ method, asked }) =>
    method === 'PATCH' &&
    /^application\/json-patch\+json/i.test(asked.lines('content-type')[0] ?? ''),
  async finds({ asked, document }) {
    const apply = readPatch(await receivePatch(incoming(asked)));
    apply(document && parseJson(document.content));
    return undefined;
  },
};
