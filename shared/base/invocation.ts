/** Whether this runs from a clone: as it was written, or as `npm ci` bundled it. An installed package is compiled. */
const source = /\.ts$|\/node_modules\/\.cache\/start\//.test(import.meta.url);

/** How a person starts both servers. */
export const START = source ? 'npm start' : 'countersign start';

/** How a person calls the command line: before the words of a command. */
export const CLI = source ? 'npm run -s cli --' : 'countersign';

/** Where the documentation begins. */
export const DOCUMENTATION = source
  ? 'docs/README.md'
  : 'docs/README.md in the folder of the package countersign';
