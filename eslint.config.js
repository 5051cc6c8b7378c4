import eslint from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

export default defineConfig(
  globalIgnores([
    '**/dist',
    '**/node_modules',
    '**/.compiled',
    'coverage',
    'test/databases', // its packages are installed by its tests only
    'test/package/apps',
    'lib/redis/scripts/index.ts',
    'lib/inspector/page/parts.ts',
  ]),
  eslint.configs.recommended,
  {
    files: ['**/*.{js,mjs,cjs}'],
    languageOptions: {
      globals: { console: 'readonly', process: 'readonly', __dirname: 'readonly', URL: 'readonly' },
    },
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-floating-promises': ['error', { checkThenables: true }],
      // An interface that only names another one may get members of its own later: `Mutex`.
      '@typescript-eslint/no-empty-object-type': [
        'error',
        { allowInterfaces: 'with-single-extends' },
      ],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', ignoreUsingDeclarations: true },
      ],
      // A method without `await` keeps `async`, so that what it throws is a rejection.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      eqeqeq: 'error',
      'no-console': 'error',
    },
  },
  {
    files: ['lib/**/*.ts'],
    rules: {
      'max-lines': ['error', 250],
      // A promise that is returned as it is takes one promise and two turns more than one that is awaited.
      '@typescript-eslint/return-await': ['error', 'always'],
      // Each evaluation makes a hidden class in the old generation, which retains what the getter refers to until a full
      // garbage collection: half of the time of an acquire, once.
      'no-restricted-syntax': [
        'error',
        {
          selector: "ObjectExpression > Property[kind='get']",
          message: 'Use a class: a getter in an object literal keeps garbage alive.',
        },
        // V8 takes it for a method of a prototype, and allocates it in the old generation: what it refers to is retained there,
        // too. An acquire took 1.5 times as long.
        {
          selector:
            'AssignmentExpression[left.type="MemberExpression"]:matches([right.type="ArrowFunctionExpression"], [right.type="FunctionExpression"])',
          message:
            'Assign a constant: a function literal that is assigned to a property keeps garbage alive.',
        },
      ],
    },
  },
  {
    // Tests read untyped answers (HTTP bodies, metadata) and hand methods to matchers.
    files: ['test/**/*.ts', 'sample/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/unbound-method': 'off',
      'no-console': 'off',
    },
  },
);
