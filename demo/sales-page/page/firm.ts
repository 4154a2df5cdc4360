/** The firm whose page this is: write your own here, and in `index.html`, `mark.svg` and the colours of `style.css`. */
export const firm = {
  name: 'Northlight Life',
  /** Where customers ask. */
  phone: '01632 960123',
  /** The product and the journey of the address without parameters, by their slugs. */
  product: 'term-life',
  journey: 'standard',
} as const
