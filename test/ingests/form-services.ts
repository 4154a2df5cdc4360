/**
 * What form and advert services send of a lead, in the shapes that they document, with words of our own. Of each: whom it is
 * about, and facts that are read from it.
 */
export type FormService = {
  readonly service: string
  readonly data: Readonly<Record<string, unknown>>
  readonly person: Readonly<Record<string, string | null>>
  readonly facts: Readonly<Record<string, unknown>>
}

/** A number kept free for stories on the screen, of a person of its own for each service. */
const phoneOf = (service: number) => `0113 496 01${String(service).padStart(2, '0')}`
const storedPhone = (service: number) => `+4411349601${String(service).padStart(2, '0')}`

const meta: FormService = {
  service: 'Meta',
  data: {
    created_time: '2026-01-12T08:49:14+0000',
    id: '120210000000000011',
    ad_id: '120210000000000012',
    form_id: '120210000000000013',
    ad_name: 'Winter',
    platform: 'fb',
    field_data: [
      { name: 'cover_wanted', values: ['Life cover'] },
      { name: 'full_name', values: ['Meta Marlowe'] },
      { name: 'email', values: ['marlowe@meta.example'] },
      { name: 'phone_number', values: [phoneOf(1)] },
      { name: 'date_of_birth', values: ['14/03/1988'] },
      { name: 'post_code', values: ['LS1 4AP'] },
    ],
  },
  person: {
    first_name: 'Meta',
    last_name: 'Marlowe',
    email: 'marlowe@meta.example',
    phone_number: storedPhone(1),
    dob: '1988-03-14',
    postal_code: 'LS1 4AP',
  },
  facts: { cover_wanted: 'Life cover', ad_name: 'Winter', platform: 'fb' },
}

const google: FormService = {
  service: 'Google',
  data: {
    lead_id: 'TeSter-123-AbC',
    user_column_data: [
      { column_id: 'FULL_NAME', string_value: 'Greta Garner', column_name: 'Full Name' },
      { column_id: 'EMAIL', string_value: 'garner@google.example', column_name: 'User Email' },
      { column_id: 'PHONE_NUMBER', string_value: phoneOf(2), column_name: 'User Phone' },
      { column_id: 'POSTAL_CODE', string_value: 'LS2 7HY', column_name: 'Postal Code' },
      { column_id: 'cover_wanted', string_value: 'Joint', column_name: 'Which cover do you want?' },
    ],
    api_version: '1.0',
    form_id: 40000000001,
    campaign_id: 50000000001,
    google_key: 'a-key',
    is_test: true,
    gcl_id: 'CjwKCA',
  },
  person: {
    first_name: 'Greta',
    last_name: 'Garner',
    email: 'garner@google.example',
    phone_number: storedPhone(2),
    postal_code: 'LS2 7HY',
  },
  facts: { cover_wanted: 'Joint', lead_id: 'TeSter-123-AbC', form_id: 40000000001 },
}

const tiktok: FormService = {
  service: 'TikTok',
  data: {
    object: 1,
    time: '1768207753',
    entry: [
      {
        id: '7400000000000000001',
        ad_name: 'Autumn',
        form_name: 'Quick quote',
        changes: [
          { field: 'name', value: 'Tia Tolman' },
          { field: 'email', value: 'tolman@tiktok.example' },
          { field: 'phone_number', value: phoneOf(3) },
          { field: 'cover_amount', value: '250000' },
        ],
      },
    ],
  },
  person: {
    first_name: 'Tia',
    last_name: 'Tolman',
    email: 'tolman@tiktok.example',
    phone_number: storedPhone(3),
  },
  facts: { cover_amount: '250000', entry_form_name: 'Quick quote' },
}

const text = (answer: string) => ({ textQuestionAnswer: { answer } })
const linkedin: FormService = {
  service: 'LinkedIn',
  data: {
    elements: [
      {
        owner: { sponsoredAccount: 'urn:li:sponsoredAccount:500000001' },
        form: {
          name: 'Cover for founders',
          id: 7200001,
          hiddenFields: [{ name: 'utm_campaign', value: 'founders' }],
          content: {
            questions: [
              { questionId: 101, question: { localized: { es_ES: 'Nombre' } }, predefinedField: 'FIRST_NAME' },
              { questionId: 102, question: { localized: { es_ES: 'Apellidos' } }, predefinedField: 'LAST_NAME' },
              { questionId: 103, question: { localized: { en_US: 'Email' } }, name: 'Email', predefinedField: 'EMAIL' },
              { questionId: 104, question: { localized: { en_US: 'Phone' } }, predefinedField: 'PHONE_NUMBER' },
              {
                questionId: 105,
                question: { localized: { en_US: 'How many founders are you?' } },
                name: 'founders',
                questionDetails: { textQuestionDetails: { maxResponseLength: 300 } },
              },
            ],
          },
        },
        formResponse: {
          answers: [
            { questionId: 101, answerDetails: text('Lina') },
            { questionId: 102, answerDetails: text('Lindqvist') },
            { questionId: 103, answerDetails: text('lindqvist@linkedin.example') },
            { questionId: 104, answerDetails: text(phoneOf(4)) },
            { questionId: 105, answerDetails: text('three') },
          ],
        },
        leadType: 'SPONSORED',
        submittedAt: 1768207753000,
      },
    ],
  },
  person: {
    title: null,
    first_name: 'Lina',
    last_name: 'Lindqvist',
    email: 'lindqvist@linkedin.example',
    phone_number: storedPhone(4),
  },
  facts: { founders: 'three', utm_campaign: 'founders', elements_form_name: 'Cover for founders' },
}

const hubspot: FormService = {
  service: 'HubSpot',
  data: {
    submittedAt: 1768207753000,
    pageUrl: 'https://firm.example/quote',
    pageTitle: 'A quote',
    values: [
      { name: 'firstname', value: 'Cat', objectTypeId: '0-1' },
      { name: 'lastname', value: 'Hubbard', objectTypeId: '0-1' },
      { name: 'email', value: 'hubbard@hubspot.example', objectTypeId: '0-1' },
      { name: 'mobilephone', value: phoneOf(5), objectTypeId: '0-1' },
      { name: 'smoker', value: 'no', objectTypeId: '0-1' },
    ],
  },
  person: {
    first_name: 'Cat',
    last_name: 'Hubbard',
    email: 'hubbard@hubspot.example',
    phone_number: storedPhone(5),
  },
  facts: { smoker: 'no', page_title: 'A quote' },
}

const typeformField = (id: string, type: string) => ({ id, type, ref: `ref-${id}` })
const typeform: FormService = {
  service: 'Typeform',
  data: {
    event_id: 'LtWXD3crgy',
    event_type: 'form_response',
    form_response: {
      form_id: 'lT4Z3j',
      token: 'a3a12ec67a1365927098a606107fac15',
      submitted_at: '2026-01-12T18:17:02Z',
      hidden: { partner_code: 'north' },
      calculated: { score: 9 },
      variables: [
        { key: 'score', type: 'number', number: 4 },
        { key: 'name', type: 'text', text: 'typeform' },
      ],
      definition: {
        id: 'lT4Z3j',
        title: 'Webhooks example',
        fields: [
          { id: 'DlXFaesGBpoF', title: "What's your full name?", type: 'short_text', ref: 'ref-DlXFaesGBpoF' },
          { id: 'SMEUb7VJz92Q', title: "What's your email address?", type: 'email', ref: 'ref-SMEUb7VJz92Q' },
          { id: 'KoJxDM3c6x8h', title: 'On which number may we call?', type: 'phone_number' },
          { id: 'JwWggjAKtOkA', title: 'Where do you live?', type: 'multiple_choice' },
          { id: 'PNe8ZKBK8C2Q', title: 'Which riders do you want?', type: 'picture_choice' },
        ],
      },
      answers: [
        { type: 'text', text: 'Tyra Typewright', field: typeformField('DlXFaesGBpoF', 'short_text') },
        { type: 'email', email: 'typewright@typeform.example', field: typeformField('SMEUb7VJz92Q', 'email') },
        { type: 'phone_number', phone_number: phoneOf(6), field: typeformField('KoJxDM3c6x8h', 'phone_number') },
        { type: 'choice', choice: { label: 'Leeds' }, field: typeformField('JwWggjAKtOkA', 'multiple_choice') },
        {
          type: 'choices',
          choices: { labels: ['Waiver', 'Illness'] },
          field: typeformField('PNe8ZKBK8C2Q', 'picture_choice'),
        },
      ],
    },
  },
  person: {
    title: null,
    first_name: 'Tyra',
    last_name: 'Typewright',
    email: 'typewright@typeform.example',
    phone_number: storedPhone(6),
  },
  facts: {
    where_do_you_live: 'Leeds',
    which_riders_do_you_want: 'Waiver',
    which_riders_do_you_want_2: 'Illness',
    form_response_hidden_partner_code: 'north',
  },
}

const tally: FormService = {
  service: 'Tally',
  data: {
    eventId: 'a4cb511e-d513-4fa5-baee-b815d718dfd1',
    eventType: 'FORM_RESPONSE',
    createdAt: '2026-01-12T12:00:00.000Z',
    data: {
      responseId: '2wgx4n',
      formId: 'VwbNEw',
      formName: 'Sample Form',
      fields: [
        { key: 'question_mVGEze', label: 'First name', type: 'INPUT_TEXT', value: 'Talia' },
        { key: 'question_3EKz4n', label: 'Last name', type: 'INPUT_TEXT', value: 'Tallis' },
        { key: 'question_w4Q4Xn', label: 'Where do we write to?', type: 'INPUT_EMAIL', value: 'tallis@tally.example' },
        { key: 'question_w7qG3n', label: 'Phone', type: 'INPUT_PHONE_NUMBER', value: phoneOf(7) },
        {
          key: 'question_n0Rr2n',
          label: 'Which cover?',
          type: 'MULTIPLE_CHOICE',
          value: ['e7bbdb10'],
          options: [
            { id: 'a1b2c3d4', text: 'Illness' },
            { id: 'e7bbdb10', text: 'Life' },
          ],
        },
        { key: 'question_wQ2XGn', label: 'Anything else?', type: 'TEXTAREA', value: null },
      ],
    },
  },
  person: {
    first_name: 'Talia',
    last_name: 'Tallis',
    email: 'tallis@tally.example',
    phone_number: storedPhone(7),
  },
  facts: { which_cover: 'Life', data_form_name: 'Sample Form' },
}

const jotform: FormService = {
  service: 'Jotform',
  data: {
    formID: '260110000000001',
    submissionID: '6100000000000000001',
    formTitle: 'Ask for a quote',
    username: 'acme',
    ip: '192.0.2.7',
    rawRequest: JSON.stringify({
      slug: 'submit/260110000000001/',
      q3_name: { first: 'Joan', last: 'Jotham' },
      q4_email: 'jotham@jotform.example',
      q5_phoneNumber: { full: phoneOf(8) },
      q6_address: { addr_line1: '8 Mill Lane', addr_line2: '', city: 'Leeds', state: '', postal: 'LS3 1AB' },
      q7_dateOfBirth: { month: '03', day: '09', year: '1979' },
      q8_smoker: 'No',
    }),
  },
  person: {
    first_name: 'Joan',
    last_name: 'Jotham',
    email: 'jotham@jotform.example',
    phone_number: storedPhone(8),
    address_line1: '8 Mill Lane',
    city: 'Leeds',
    postal_code: 'LS3 1AB',
    dob: '1979-03-09',
  },
  facts: { raw_request_q8_smoker: 'No', form_title: 'Ask for a quote' },
}

const webflow: FormService = {
  service: 'Webflow',
  data: {
    triggerType: 'form_submission',
    payload: {
      name: 'Contact Us',
      siteId: '65427cf400e02b306eaa049c',
      data: {
        'First Name': 'Wanda',
        'Last Name': 'Webster',
        Email: 'webster@webflow.example',
        'Phone Number': 441134960109,
        Smoker: 'never',
      },
      schema: [
        { fieldName: 'First Name', fieldType: 'FormTextInput', fieldElementId: '285042f7-d554-dc7f-102c-aa10d6a2d2c4' },
        { fieldName: 'Last Name', fieldType: 'FormTextInput', fieldElementId: '285042f7-d554-dc7f-102c-aa10d6a2d2c5' },
      ],
      submittedAt: '2026-01-12T17:26:50.000Z',
      formId: '65429eadebe8a9f3a30f62d0',
    },
  },
  person: {
    first_name: 'Wanda',
    last_name: 'Webster',
    email: 'webster@webflow.example',
    phone_number: storedPhone(9),
  },
  facts: { payload_data_smoker: 'never', payload_name: 'Contact Us' },
}

const elementor: FormService = {
  service: 'Elementor',
  data: {
    form: { id: '3c2e1f0', name: 'New Form' },
    fields: {
      name: {
        id: 'name',
        type: 'text',
        title: 'Name',
        value: 'Ellen Elmore',
        raw_value: 'Ellen Elmore',
        required: '1',
      },
      email: {
        id: 'email',
        type: 'email',
        title: 'Email',
        value: 'elmore@elementor.example',
        raw_value: '',
        required: '1',
      },
      field_7af31c2: { id: 'field_7af31c2', type: 'tel', title: 'Phone', value: phoneOf(10), raw_value: phoneOf(10) },
      message: {
        id: 'message',
        type: 'textarea',
        title: 'Message',
        value: 'In the evening',
        raw_value: '',
        required: '0',
      },
    },
    meta: {
      date: { title: 'Date', value: '12 January 2026' },
      page_url: { title: 'Page URL', value: 'https://firm.example/quote' },
    },
  },
  person: {
    first_name: 'Ellen',
    last_name: 'Elmore',
    email: 'elmore@elementor.example',
    phone_number: storedPhone(10),
  },
  facts: { fields_message: 'In the evening', form_name: 'New Form', meta_date: '12 January 2026' },
}

const gravityForms: FormService = {
  service: 'Gravity Forms',
  data: {
    id: '45',
    form_id: '5',
    date_created: '2026-01-12 09:10:11',
    source_url: 'https://firm.example/quote',
    created_by: '1',
    status: 'active',
    '1.2': 'Dr',
    '1.3': 'Grace',
    '1.4': '',
    '1.6': 'Gravell',
    '1.8': '',
    '2': 'gravell@gravity.example',
    '3': phoneOf(11),
    '4.1': '11 Mill Lane',
    '4.2': '',
    '4.3': 'Leeds',
    '4.4': 'West Yorkshire',
    '4.5': 'LS4 2AB',
    '4.6': 'United Kingdom',
    '5': 'No',
    _labels: {
      '1': { '1.2': 'Prefix', '1.3': 'First', '1.4': 'Middle', '1.6': 'Last', '1.8': 'Suffix' },
      '2': 'Email',
      '3': 'Phone',
      '5': 'Smoker',
    },
  },
  person: {
    title: 'Dr',
    first_name: 'Grace',
    last_name: 'Gravell',
    email: 'gravell@gravity.example',
    phone_number: storedPhone(11),
    address_line1: '11 Mill Lane',
    city: 'Leeds',
    postal_code: 'LS4 2AB',
    country: 'United Kingdom',
  },
  facts: { smoker: 'No', status: 'active' },
}

const zapier: FormService = {
  service: 'Zapier',
  data: {
    id: '120210000000000014',
    created_time: '2026-01-12T08:49:14+0000',
    name: 'Zap of the web form',
    form_name: 'Web form',
    data__full_name: 'Zara Zappa',
    data__email: 'zappa@zapier.example',
    data__phone_number: phoneOf(12),
    data__smoker: 'no',
  },
  person: {
    first_name: 'Zara',
    last_name: 'Zappa',
    email: 'zappa@zapier.example',
    phone_number: storedPhone(12),
  },
  facts: { data_smoker: 'no', name: 'Zap of the web form' },
}

const salesforce: FormService = {
  service: 'Salesforce web-to-lead',
  data: {
    oid: '00D5g000001AbCd',
    retURL: 'https://firm.example/thanks',
    salutation: 'Ms.',
    first_name: 'Sally',
    last_name: 'Forsyth',
    title: 'Head of people',
    email: 'forsyth@salesforce.example',
    company: 'Acme',
    phone: phoneOf(13),
    mobile: '07700 900013',
    street: '13 Mill Lane',
    city: 'Leeds',
    zip: 'LS5 3AB',
    lead_source: 'Web',
    '00N5g00000AbCdE': 'yes',
  },
  person: {
    title: 'Ms.',
    first_name: 'Sally',
    last_name: 'Forsyth',
    email: 'forsyth@salesforce.example',
    phone_number: storedPhone(13),
    address_line1: '13 Mill Lane',
    city: 'Leeds',
    postal_code: 'LS5 3AB',
  },
  facts: { company: 'Acme', title: 'Head of people', mobile: '07700 900013', lead_source: 'Web' },
}

const pipedrive: FormService = {
  service: 'Pipedrive',
  data: {
    meta: { action: 'create', entity: 'person', company_id: '1', version: '2.0', host: 'acme.pipedrive.example' },
    data: {
      id: 8,
      name: 'Pia Pickford',
      first_name: 'Pia',
      last_name: 'Pickford',
      owner_id: { id: 1, name: 'Owen Owner', email: 'owner@firm.example' },
      org_id: { name: 'Acme', address: '1 Firm Street' },
      emails: [
        { label: 'home', value: 'home@pipedrive.example', primary: false },
        { label: 'work', value: 'pickford@pipedrive.example', primary: true },
      ],
      phones: [{ label: 'mobile', value: phoneOf(14), primary: true }],
      custom_fields: { smoker: { type: 'varchar', value: 'no' } },
    },
    previous: null,
  },
  person: {
    first_name: 'Pia',
    last_name: 'Pickford',
    email: 'pickford@pipedrive.example',
    phone_number: storedPhone(14),
    address_line1: null,
  },
  facts: { data_org_id_name: 'Acme', data_custom_fields_smoker: 'no', data_emails_2: 'home@pipedrive.example' },
}

export const formServices: readonly FormService[] = [
  meta,
  google,
  tiktok,
  linkedin,
  hubspot,
  typeform,
  tally,
  jotform,
  webflow,
  elementor,
  gravityForms,
  zapier,
  salesforce,
  pipedrive,
]
