/** Text that mail, message and document programs turn into links: with a scheme, `www.`, a path, or the name of a host. */
const addresses = [
  /[a-z][a-z0-9+.-]*:\/\//i,
  /\b(?:mailto|tel|sms|javascript|data):/i,
  /(?<![\p{L}\p{N}])www\./iu,
  /[\p{L}\p{N}]\.[\p{L}-]{2,}[/?#:]/u,
  // Small or capital throughout, and behind more than an initial: neither St.John nor J.R.SMITH is a host.
  /[\p{L}\p{N}-]{2,}\.(?:\p{Ll}{2,}|\p{Lu}{2,}|xn--[a-z0-9-]+)(?![\p{L}\p{N}])/u,
  /\d{1,3}(?:\.\d{1,3}){3}/,
  /@[\p{L}\p{N}]/u,
]

const holdsAddress = (text: string): boolean => addresses.some((address) => address.test(text))

/** The name a person gave, for messages; null where it holds an address, which we would otherwise send to others. */
export const withoutAddress = (text: string | null): string | null =>
  // A full stop of another script is one for whoever opens it, too.
  text !== null && holdsAddress(text.normalize('NFKC').replaceAll('。', '.')) ? null : text
