import { notesIn, type Notes } from '#shared/explain/note.ts';

const http = notesIn('RFC 9110');
const webdav = notesIn('RFC 4918');

/** Notes on the fields of requests for documents, by name in lower case. */
export const DOCUMENT_FIELDS: Notes = {
  etag: http('The version of the document. Each change gives it another one.', '8.8.3'),
  'last-modified': http('When the document was changed, to a second.', '8.8.2'),
  'if-match': http('The request is for this version alone: of another one it is 412.', '13.1.1'),
  'if-none-match': http(
    'The request is for other versions than this one; `*`: for none at all. GET of this version is 304.',
    '13.1.2',
  ),
  'if-range': http(
    'The range is of this version; of another one the client gets the whole.',
    '13.1.5',
  ),
  range: http('The part that the client asks for. Both ends are of it.', '14.2'),
  'content-range': http('The part that comes, and the length of the whole.', '14.4'),
  'accept-ranges': http('The client may ask for ranges of octets.', '14.3'),
  location: http(
    'The address to go on to: of what was made, of the same question after QUERY, or where the browser is sent.',
    '10.2.2',
  ),
  'content-location': http('The address at which this very content is.', '8.7'),
  'accept-patch': {
    text: 'The formats of patches that this address takes.',
    section: 'RFC 5789 section 3.1',
  },
  'accept-query': {
    text: 'The languages of questions that this address takes.',
    section: 'RFC 10008 section 3',
  },
  prefer: {
    text: 'The wish of the client: `return=representation` is for the new document at once, `wait=0` for an answer without waiting.',
    section: 'RFC 7240 section 4',
  },
  'preference-applied': {
    text: 'The preference that the server has followed.',
    section: 'RFC 7240 section 3',
  },
  dav: webdav('The classes of WebDAV that this address complies with.', '10.1'),
  'ms-author-via': { text: 'Programs of Microsoft write by WebDAV.', section: 'no standard' },
  depth: webdav('The lock is for this address alone.', '10.2'),
  if: webdav('The token of the lock that the client holds: without it a change is 423.', '10.4'),
  'lock-token': webdav('The token of the lock.', '10.5'),
  timeout: webdav('How long the lock lasts, unless it is renewed.', '10.7'),
};
