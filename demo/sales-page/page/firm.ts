/** The firm whose page this is, as far as the screens name it. Write your own here, and in `index.html`. */
export const firm = { name: 'Northlight Life', phone: '01632 960123' } as const
