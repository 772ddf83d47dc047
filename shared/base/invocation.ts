/** True if this code runs from a clone: as source, or as bundled by `npm ci`. An installed package is compiled. */
const source = /\.ts$|\/node_modules\/\.cache\/start\//.test(import.meta.url);

/** How a person starts both servers. */
export const START = source ? 'npm start' : 'countersign start';

/** The command that precedes the words of a command-line command. */
export const CLI = source ? 'npm run -s cli --' : 'countersign';

/** The URL or path where the documentation begins. */
export const DOCUMENTATION = source
  ? 'docs/README.md'
  : 'docs/README.md in the folder of the package countersign';
