/** What `skip` of a test takes: false where `isThere`, else what is lacking. Throws where it is required. */
export function skipWithout(isThere: boolean, test: string, name: string): false | string;
