/**
 * The origin that a text names, as a browser would write it (lower case, default port left out): scheme, host and port
 * and nothing more. Undefined when it names none, or more than an origin.
 */
export const originOf = (text: string): string | undefined => {
  const url = URL.parse(text)
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return undefined
  // What is left of it must be the text itself: no path, not even a slash, no query, no user, no wildcard.
  return /^[a-z]+:\/\/[^/?#\\@*\s]+$/i.test(text) ? url.origin : undefined
}
