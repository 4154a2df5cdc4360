import type { CustomerDetails } from '../customers/events.ts'

export type DetailName = keyof CustomerDetails | 'name' | 'external_id' | 'contact_id'

export const names: Readonly<Record<DetailName, readonly string[]>> = {
  contact_id: ['contactid'],
  external_id: ['externalid', 'externalref', 'externalreference', 'crmid'],
  title: ['title', 'salutation', 'honorific'],
  first_name: ['firstname', 'forename', 'givenname', 'fname', 'christianname'],
  last_name: ['lastname', 'surname', 'familyname', 'lname', 'secondname'],
  name: ['name', 'fullname', 'yourname', 'contactname', 'customername'],
  email: [
    'email',
    'emails',
    'emailaddress',
    'mail',
    'youremail',
    'contactemail',
    'workemail',
    'homeemail',
    'useremail',
  ],
  phone_number: [
    'phone',
    'phones',
    'phonenumber',
    'phonenumbers',
    'telephone',
    'telephonenumber',
    'tel',
    'mobile',
    'mobilenumber',
    'mobilephone',
    'cell',
    'contactnumber',
    'daytimephone',
    'homephone',
    'workphone',
    'workphonenumber',
    'userphone',
    'yourphone',
  ],
  dob: ['dob', 'dateofbirth', 'birthdate', 'birthday', 'born'],
  postal_code: ['postalcode', 'postcode', 'postal', 'zip', 'zipcode'],
  address_line1: ['addressline1', 'addrline1', 'address1', 'line1', 'street', 'streetaddress', 'address'],
  address_line2: ['addressline2', 'addrline2', 'address2', 'line2'],
  city: ['city', 'town', 'posttown'],
  country: ['country', 'countrycode'],
}

const byName: ReadonlyMap<string, DetailName> = new Map(
  Object.entries(names).flatMap(([name, aliases]) => aliases.map((alias) => [alias, name as DetailName] as const)),
)

/** As names of fields are compared. */
export const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

const longestName = 100

/** Words around the name of the field in a question: "What is your first name?" */
const aroundIt =
  /\b(what's|whats|what|which|is|are|your|please|enter|provide|give|tell|us|me|my|the|can|could|may|we|have|here|type|in)\b/g

/** Our name of a field that somebody calls by any of its usual names. */
export const detailNamed = (name: string): DetailName | undefined => {
  const known = byName.get(plain(name))
  if (known || name.length > longestName) return known
  return byName.get(plain(name.toLowerCase().replaceAll('\u2019', "'").replaceAll(aroundIt, '')))
}

/** Our name of a part of a detail that was sent in parts, such as the `first` of a `name`. */
export const partNamed = (detail: DetailName, part: string): DetailName | undefined =>
  detail === 'name' ? nameParts.get(plain(part)) : undefined

const nameParts: ReadonlyMap<string, DetailName> = new Map([
  ['first', 'first_name'],
  ['given', 'first_name'],
  ['last', 'last_name'],
  ['family', 'last_name'],
  ['prefix', 'title'],
  ['full', 'name'],
])

/** Names of objects that hold one person's details and nothing else. */
const persons =
  /^(contact|contactdetails|person|personal|personaldetails|personid|customer|customerdetails|lead|applicant|client|user|details|address|homeaddress|identity)$/

/** Names that services put around all fields of a form, or of an event. */
const wrappers =
  /^(form|field|user|lead|contact|customer|person|applicant|client|custom|hidden|column|question|submission|response|raw|entry|event|webhook|all)*(form|fields?|values?|answers?|data|responses?|questions?|inputs?|properties|attributes|changes?|entry|entries|submissions?|results?|request|record|event|payload|body|current|elements?)$/

export const isPerson = (place: string): boolean => persons.test(plain(place))

/** The value at this place of what was sent may be the person's. */
export const mayBePersons = (place: string): boolean =>
  place.length <= longestName && (isPerson(place) || wrappers.test(plain(place)))

/** Other people whom a form mentions. */
const others =
  /\b(partner|spouse|wife|husband|friend|colleague|their|referr\w*|agent|broker|advis[eo]r|employer|child|parent|doctor|gp|kin|emergency)/i

/** Our name of a field by what kind of field its sender says that it is; undefined where it may be about somebody else. */
export const detailOfKind = (kind: string, names: readonly string[]): 'email' | 'phone_number' | undefined => {
  if (names.some((name) => others.test(name))) return undefined
  const [, detail] = /^(?:input|control)?(email|phone|phonenumber|tel)$/.exec(plain(kind)) ?? []
  return detail === undefined ? undefined : detail === 'email' ? 'email' : 'phone_number'
}
